import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** Older signatures are refused, so that a request that somebody recorded can't be sent again; in seconds. */
const maxAgeSec = 300;

/** Checks `X-Service-Signature` with nothing but node:crypto: HMAC-SHA-256 over `<timestamp>.<raw body>`. */
export function verifyByHand(headers: IncomingHttpHeaders, body: string, secret: string): boolean {
  const timestamp = String(headers['x-service-timestamp']);
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`);
  const given = Buffer.from(String(headers['x-service-signature']));
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= maxAgeSec;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}

/** Checks the `webhook-*` headers with the library of the Standard Webhooks project. */
export function verifyWithStandardWebhooks(headers: IncomingHttpHeaders, body: string, secret: string): boolean {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  try {
    new Webhook(secret).verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name])])));
    return true;
  } catch {
    return false;
  }
}
