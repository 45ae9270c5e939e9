import { type AccountHooks, accountHookPaths, type HookedCollections, removable } from '@recordbus/accounts';
import { AppError, unavailable } from '@recordbus/errors';
import { type ContextSigner, contextHeader, type RequestContext } from '@recordbus/request/context';
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
const refusal = z.object({
  error: z.string(),
  code: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

interface HookRequest {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly timeoutMs: number;
}

/** Calls the service that runs the hooks over HTTP, with the signed context. Throws 503 when it does not answer. */
export function createAccountHooksClient({ url, contextSigner, copy }: RemoteOptions): AccountHooks {
  async function call({ method, path, body, timeoutMs }: HookRequest, context: RequestContext): Promise<unknown> {
    const target = new URL(path, url);
    const signed = contextSigner.sign(context, { method, url: target.pathname });
    const response = await fetch(target, {
      method,
      headers: { 'Content-Type': 'application/json', [contextHeader]: signed },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error) => {
      throw hooksAway(error);
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    const refused = refusal.safeParse(answer);
    if (!refused.success) throw hooksAway();
    const { code, error, details } = refused.data;
    throw new AppError(response.status, code, error, details ? { details } : {});
  }

  const pathIn = (path: string, collection: string) => path.replace(':collection', encodeURIComponent(collection));

  async function write(method: HookRequest['method'], collection: string, body: unknown, context: RequestContext) {
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
