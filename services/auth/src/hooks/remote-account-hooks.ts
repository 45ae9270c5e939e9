import { type AccountHooks, accountHookPaths, type HookedAccounts } from '@recordbus/accounts';
import { type ContextSealer, contextHeader, type RequestContext } from '@recordbus/shared/context';
import { AppError, unavailable } from '@recordbus/shared/errors';
import { z } from 'zod';

interface RemoteOptions {
  /** Where the service with the hooks listens. */
  readonly url: string;
  readonly sealer: ContextSealer;
  /** What has hooks there. */
  readonly copy: { readonly current: HookedAccounts };
}

/** Hooks have 5 s; what takes longer is not there. */
const signInTimeoutMs = 8000;
/** Writes wait for their turn for up to 5 s, then their hooks have 5 s. */
const writeTimeoutMs = 15_000;

const done = z.object({ data: z.object({ isWritten: z.boolean() }) });
const refusal = z.object({
  error: z.string(),
  code: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

interface Question {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly timeoutMs: number;
}

/** Asks the service that runs the extensions, over HTTP with the sealed context. Throws 503 when it does not answer. */
export function remoteAccountHooks({ url, sealer, copy }: RemoteOptions): AccountHooks {
  async function ask({ method, path, body, timeoutMs }: Question, context: RequestContext): Promise<unknown> {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { 'Content-Type': 'application/json', [contextHeader]: sealer.seal(context) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error) => {
      throw silent(error);
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    const refused = refusal.safeParse(answer);
    if (!refused.success) throw silent();
    const { code, error, details } = refused.data;
    throw new AppError(response.status, code, error, details ? { details } : {});
  }

  async function write(method: Question['method'], collection: string, body: unknown, context: RequestContext) {
    const path = accountHookPaths.users.replace(':collection', encodeURIComponent(collection));
    const answer = done.safeParse(await ask({ method, path, body, timeoutMs: writeTimeoutMs }, context));
    if (!answer.success) throw silent();
    return answer.data.data.isWritten;
  }

  return {
    get hooked() {
      return copy.current;
    },
    async beforeSignIn(attempt, context) {
      const path = accountHookPaths.signIn;
      await ask({ method: 'POST', path, body: attempt, timeoutMs: signInTimeoutMs }, context);
    },
    createUser: (collection, user, context) => write('POST', collection, user, context),
    changeUser: (collection, change, context) => write('PATCH', collection, change, context),
  };
}

const silent = (cause?: unknown) => unavailable('the hooks of accounts can not be asked', cause);
