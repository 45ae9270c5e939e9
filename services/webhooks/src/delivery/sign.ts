import { createHmac } from 'node:crypto';

interface Signable {
  readonly deliveryId: string;
  readonly event: string;
  /** The exact text that is sent. */
  readonly body: string;
  readonly secret: string;
  /** Unix seconds. */
  readonly timestamp: number;
}

const secretPrefix = 'whsec_';

/**
 * The headers that name and sign a delivery: the product's own (interface §6.2), keyed with the secret's text, and
 * those of Standard Webhooks, keyed with the bytes that the secret encodes.
 */
export function signatureHeaders({ deliveryId, event, body, secret, timestamp }: Signable): [string, string][] {
  const own = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const key = Buffer.from(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret, 'base64');
  const standard = createHmac('sha256', key).update(`${deliveryId}.${timestamp}.`).update(body).digest('base64');
  return [
    ['X-Service-Event', headerText(event)],
    ['X-Service-Delivery', deliveryId],
    ['X-Service-Timestamp', String(timestamp)],
    ['X-Service-Signature', `sha256=${own}`],
    ['webhook-id', deliveryId],
    ['webhook-timestamp', String(timestamp)],
    ['webhook-signature', `v1,${standard}`],
  ];
}

/** Percent-encodes what a header can't carry; names of events hardly ever have any of it. */
const headerText = (text: string) => text.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
