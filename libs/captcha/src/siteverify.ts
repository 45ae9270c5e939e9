import { createHash } from 'node:crypto';
import type { EgressClient } from '@recordbus/egress';
import { EgressBlockedError, EgressFailedError } from '@recordbus/egress';
import { z } from 'zod';
import type { Verdict } from './verdict.ts';

/** Turnstile: developers.cloudflare.com/turnstile/get-started/server-side-validation; hCaptcha: docs.hcaptcha.com. */
const urls = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
} as const;

const limits = { timeoutMs: 3000, maxBodyBytes: 64 * 1024 };

/** Longer than both providers keep an answer valid, in seconds. */
const keptSec = 10 * 60;

const verification = z.object({
  success: z.boolean(),
  hostname: z.string().nullish(),
  'error-codes': z.array(z.string()).nullish(),
});

/** Codes that say nothing about the answer: our secret is wrong, or the provider has an error. */
const providerCodes = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'bad-request',
  'internal-error',
]);

/** An answer to verify. */
interface SiteAnswer {
  readonly provider: keyof typeof urls;
  readonly secret: string;
  readonly answer: string;
  readonly clientAddress: string | undefined;
  /** The sites whose captchas count; empty for all. */
  readonly hostnames: readonly string[];
  readonly verifyUrl: string | undefined;
}

/** Asks Turnstile, hCaptcha, or a service that verifies like them. */
export async function verifyAtSite(
  client: Pick<EgressClient, 'request'>,
  { provider, secret, answer, clientAddress, hostnames, verifyUrl }: SiteAnswer,
  nowSec: number,
): Promise<Verdict> {
  if (secret === '') return { outcome: 'away', reason: 'the setting with the secret key is empty' };
  const form = new URLSearchParams({ secret, response: answer });
  if (clientAddress !== undefined) form.set('remoteip', clientAddress);
  try {
    const { status, body, truncated } = await client.request(verifyUrl ?? urls[provider], {
      method: 'POST',
      headers: [
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Accept', 'application/json'],
        ['User-Agent', 'Recordbus'],
      ],
      body: form.toString(),
      ...limits,
    });
    const found = truncated ? undefined : verification.safeParse(parse(body)).data;
    if (!found) return { outcome: 'away', reason: `status ${status}, and no verdict` };
    const code = found['error-codes']?.find((one) => providerCodes.has(one));
    if (!found.success) return code === undefined ? { outcome: 'refused' } : { outcome: 'away', reason: code };
    if (hostnames.length > 0 && !hostnames.includes(found.hostname?.toLowerCase() ?? '')) return { outcome: 'refused' };
    const id = createHash('sha256').update(answer).digest('base64url');
    return { outcome: 'solved', id, expiresAtSec: nowSec + keptSec };
  } catch (error) {
    if (error instanceof EgressBlockedError || error instanceof EgressFailedError)
      return { outcome: 'away', reason: error.message };
    throw error;
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}
