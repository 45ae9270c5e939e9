import { type AccountHooks, accountHookPaths, type HookedCollections, removable } from '@recordbus/accounts';
import { unavailable } from '@recordbus/errors';
import { callService, type ServiceCall } from '@recordbus/request/call-service';
import type { ContextSigner, RequestContext } from '@recordbus/request/context';
import { z } from 'zod';

interface RemoteOptions {
  /** The address of the service that runs the hooks. */
  readonly url: string;
  readonly contextSigner: ContextSigner;
  /** The collections that have hooks. */
  readonly copy: { readonly current: HookedCollections };
}

/** Hooks have 5 s. After this time the service counts as unavailable. */
const signInTimeoutMs = 8000;
/** A write waits up to 5 s for its turn, then its hooks have 5 s. */
const writeTimeoutMs = 15_000;
/** The picture is fetched for up to 10 s and then written. */
const pictureTimeoutMs = 25_000;

/** A service from the previous version does not answer `removed`. */
const written = z.object({ data: z.object({ isWritten: z.boolean(), removed: z.array(removable).default([]) }) });

/** Calls the service that runs the hooks over HTTP, with the signed context. Throws 503 when it does not answer. */
export function createAccountHooksClient({ url, contextSigner, copy }: RemoteOptions): AccountHooks {
  const call = (request: ServiceCall, context: RequestContext) =>
    callService({ url, contextSigner, away: hooksAway }, request, context);

  const pathIn = (path: string, collection: string) => path.replace(':collection', encodeURIComponent(collection));

  async function write(method: ServiceCall['method'], collection: string, body: unknown, context: RequestContext) {
    const path = pathIn(accountHookPaths.users, collection);
    const answer = written.safeParse(await call({ method, path, body, timeoutMs: writeTimeoutMs }, context));
    if (!answer.success) throw hooksAway();
    return answer.data.data;
  }

  return {
    get hooked() {
      return copy.current;
    },
    async beforeSignIn(attempt, context) {
      const path = accountHookPaths.signIn;
      await call({ method: 'POST', path, body: attempt, timeoutMs: signInTimeoutMs }, context);
    },
    createUser: async (collection, user, context) => (await write('POST', collection, user, context)).isWritten,
    async changeUser(collection, change, context) {
      const { isWritten, removed } = await write('PATCH', collection, change, context);
      return isWritten ? removed : undefined;
    },
    async takePicture(collection, picture, context) {
      const path = pathIn(accountHookPaths.pictures, collection);
      await call({ method: 'POST', path, body: picture, timeoutMs: pictureTimeoutMs }, context);
    },
  };
}

const hooksAway = (cause?: unknown) => unavailable('account hooks cannot be called', cause);
