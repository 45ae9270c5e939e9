import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** How old a signature may be, in seconds (interface §6.2). */
const replayWindowSec = 300;

/**
 * Verifies a delivery twice, as a receiver would: by hand as interface §6.2 says, and with the library of the Standard
 * Webhooks project (contract §5). Throws saying which of the two it fails.
 */
export function verifyDelivery(headers: IncomingHttpHeaders, body: string, secret: string): void {
  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = headers;
  if (typeof timestamp !== 'string' || typeof signature !== 'string') throw new Error('the delivery is not signed');
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > replayWindowSec)
    throw new Error(`X-Service-Timestamp is not of now: ${timestamp}`);
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`);
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Error(`X-Service-Signature does not fit: ${signature}`);
  const trio = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]);
  new Webhook(secret).verify(body, Object.fromEntries(trio));
}
