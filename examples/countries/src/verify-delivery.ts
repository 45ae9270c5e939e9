import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** A signature's greatest age, in seconds. It prevents replays of recorded requests. */
const maxAgeSec = 300;

/** Verifies `X-Service-Signature` with node:crypto alone: HMAC-SHA-256 over `<timestamp>.<raw body>`. */
export function verifyByHand(headers: IncomingHttpHeaders, body: string, secret: string): boolean {
  const timestamp = String(headers['x-service-timestamp']);
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`);
  const given = Buffer.from(String(headers['x-service-signature']));
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= maxAgeSec;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}

/** Verifies the `webhook-*` headers with the Standard Webhooks project's library. */
export function verifyWithStandardWebhooks(headers: IncomingHttpHeaders, body: string, secret: string): boolean {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  try {
    new Webhook(secret).verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name])])));
    return true;
  } catch {
    return false;
  }
}
