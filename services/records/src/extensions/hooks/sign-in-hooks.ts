import { type ExtensionHost, everyCollection } from '@recordbus/extension-host';
import type { SignInAttempt } from '@recordbus/extensions';
import type { SignInHooks } from '@recordbus/shared/sign-in-hooks';
import { rootScope } from '../call-scope.ts';
import type { Toolbox } from '../tools/toolbox.ts';

/** For each hook. */
const timeoutMs = 5000;

/** The sign-in hooks of the extensions that are loaded; those of every collection come first. */
export const createSignInHooks = (host: Pick<ExtensionHost, 'extensions' | 'call'>, toolbox: Toolbox): SignInHooks => ({
  async before(attempt, context) {
    const hooks = host.extensions.flatMap(({ name, description }) =>
      description.signIn.map((hook) => ({ ...hook, extension: name })),
    );
    const input: SignInAttempt = {
      ...attempt,
      clientAddress: context.clientAddress,
      requestId: context.requestId,
    };
    for (const { extension, collection, point } of hooks) {
      if (point !== 'before' || (collection !== everyCollection && collection !== attempt.collection)) continue;
      await host.call(extension, {
        target: { kind: 'signIn', collection, point },
        input,
        timeoutMs,
        answer: toolbox(extension, rootScope(context)),
      });
    }
    const wantsToKnow = hooks.some(
      ({ collection, point }) =>
        point === 'after' && (collection === everyCollection || collection === attempt.collection),
    );
    return { hasHooks: hooks.length > 0, wantsToKnow };
  },
});
