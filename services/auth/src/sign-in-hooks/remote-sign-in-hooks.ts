import { type ContextSealer, contextHeader } from '@recordbus/shared/context';
import { AppError, unavailable } from '@recordbus/shared/errors';
import { type SignInHooks, signInHooksPath } from '@recordbus/shared/sign-in-hooks';
import { z } from 'zod';

interface RemoteOptions {
  /** Where the service with the hooks listens. */
  readonly url: string;
  readonly sealer: ContextSealer;
}

/** Hooks have 5 s; what takes longer is not there. */
const timeoutMs = 8000;
/** That there are no hooks at all is believed for so long. */
const noHooksMs = 5000;

const verdict = z.object({ data: z.object({ hasHooks: z.boolean(), wantsToKnow: z.boolean() }) });
const refusal = z.object({
  error: z.string(),
  code: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** Asks the service that runs the extensions, over HTTP with the sealed context. Throws 503 when it does not answer. */
export function remoteSignInHooks({ url, sealer }: RemoteOptions): SignInHooks {
  let noHooksUntilMs = 0;

  return {
    async before(attempt, context) {
      if (performance.now() < noHooksUntilMs) return { hasHooks: false, wantsToKnow: false };
      const response = await fetch(new URL(signInHooksPath, url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', [contextHeader]: sealer.seal(context) },
        body: JSON.stringify(attempt),
        signal: AbortSignal.timeout(timeoutMs),
      }).catch((error) => {
        throw unavailable('the hooks of sign-ins can not be asked', error);
      });
      const body: unknown = await response.json().catch(() => undefined);
      const refused = refusal.safeParse(body);
      if (!response.ok && refused.success)
        throw new AppError(response.status, refused.data.code, refused.data.error, {
          ...(refused.data.details && { details: refused.data.details }),
        });
      const given = verdict.safeParse(body);
      if (!given.success) throw unavailable('the hooks of sign-ins can not be asked');
      if (!given.data.data.hasHooks) noHooksUntilMs = performance.now() + noHooksMs;
      return given.data.data;
    },
  };
}
