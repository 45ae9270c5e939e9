import type { AccountHooks } from '@recordbus/accounts';
import { type ExtensionHost, everyCollection } from '@recordbus/extension-host';
import type { SignInAttempt } from '@recordbus/extensions';
import { rootScope } from '../call-scope.ts';
import type { Toolbox } from '../tools/toolbox.ts';

/** For each hook, in milliseconds. */
const timeoutMs = 5000;

/** Creates the function that runs the loaded extensions' sign-in hooks. */
export const createSignInHooks =
  (host: Pick<ExtensionHost, 'extensions' | 'call'>, toolbox: Toolbox): AccountHooks['beforeSignIn'] =>
  async (attempt, context) => {
    const hooks = host.extensions.flatMap(({ name, description }) =>
      description.signIn.map((hook) => ({ ...hook, extension: name })),
    );
    const input: SignInAttempt = {
      ...attempt,
      email: attempt.email,
      identity: attempt.identity,
      userAgent: attempt.userAgent,
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
  };
