import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** A signature's greatest age, in seconds (webhooks §5.4). */
const replayWindowSec = 300;

/**
 * Verifies a delivery's two signatures as a receiver does: the product's own (webhooks §5.2), and Standard Webhooks'
 * with that project's library (webhooks §5.3). Throws with the name of the one that fails.
 */
export function verifyDelivery(headers: IncomingHttpHeaders, body: string, secret: string): void {
  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = headers;
  if (typeof timestamp !== 'string' || typeof signature !== 'string') throw new Error('the delivery is not signed');
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > replayWindowSec)
    throw new Error(`X-Service-Timestamp is too old or in the future: ${timestamp}`);
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`);
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Error(`X-Service-Signature does not match: ${signature}`);
  const trio = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]);
  new Webhook(secret).verify(body, Object.fromEntries(trio));
}
