import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { EgressClient } from '@recordbus/egress';
import { AppError, unavailable } from '@recordbus/errors';
import { notProved } from './provider.ts';

/** The public keys with which SNS signs. */
export interface SnsCertificates {
  /**
   * Returns the key in the certificate at a URL. Throws 401 for a URL of any host but the given one, and 503 if the
   * certificate cannot be had.
   */
  keyAt(url: string, host: string): Promise<KeyObject>;
}

/** As SNS names its certificates. */
const certificatePath = /^\/SimpleNotificationService-[0-9a-f]{32,64}\.pem$/;
const timeoutMs = 10_000;
const maxBytes = 64 * 1024;
/** SNS has a few at a time. */
const maxKept = 16;
/** A message that nobody signed may name any file: so many are fetched in a minute. */
const maxFetches = 20;
const fetchWindowMs = 60_000;

/** Creates the keys, which are fetched when a message names them and kept while their certificates are valid. */
export function createSnsCertificates(client: Pick<EgressClient, 'request'>): SnsCertificates {
  const kept = new Map<string, { readonly key: Promise<KeyObject>; validUntilMs: number }>();
  let fetchedMs: number[] = [];

  async function fetchKey(url: string): Promise<KeyObject> {
    const answer = await client
      .request(url, { method: 'GET', timeoutMs, maxBodyBytes: maxBytes })
      .catch((error: unknown) => {
        throw unavailable("Amazon SNS's certificate cannot be fetched", error);
      });
    // A file that SNS does not have; a name that nobody gave.
    if (answer.status >= 400 && answer.status < 500) throw notProved('Amazon SNS has no such certificate');
    if (answer.status !== 200 || answer.truncated) throw unavailable("Amazon SNS's certificate cannot be fetched");
    const certificate = readCertificate(answer.body);
    const entry = kept.get(url);
    if (entry) entry.validUntilMs = certificate.validToDate.getTime();
    if (certificate.validFromDate.getTime() > Date.now() || certificate.validToDate.getTime() < Date.now())
      throw notProved("Amazon SNS's certificate has expired");
    return createPublicKey(certificate.publicKey.export({ type: 'spki', format: 'pem' }));
  }

  function keep(url: string): Promise<KeyObject> {
    const nowMs = performance.now();
    fetchedMs = fetchedMs.filter((ms) => nowMs - ms < fetchWindowMs);
    if (fetchedMs.length >= maxFetches) throw unavailable('too many certificates were named');
    fetchedMs.push(nowMs);
    const [oldest] = kept.keys();
    if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
    const entry = { key: fetchKey(url), validUntilMs: Number.POSITIVE_INFINITY };
    kept.set(url, entry);
    entry.key.catch(() => {
      if (kept.get(url) === entry) kept.delete(url);
    });
    return entry.key;
  }

  return {
    async keyAt(text, host) {
      const url = certificateUrl(text, host);
      const found = kept.get(url);
      return found && found.validUntilMs > Date.now() ? found.key : keep(url);
    },
  };
}

/** Rebuilds the URL from its path, so that nothing but the host's own certificates can be asked for. */
function certificateUrl(text: string, host: string): string {
  const url = URL.parse(text);
  const isOwn = url?.protocol === 'https:' && url.host === host && !url.username && !url.password;
  if (!isOwn || !certificatePath.test(url.pathname)) throw notProved(`SigningCertURL is not a certificate at ${host}`);
  return `https://${host}${url.pathname}`;
}

function readCertificate(bytes: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch (cause) {
    throw new AppError(503, 'unavailable', "Amazon SNS's certificate cannot be read", { cause });
  }
}
