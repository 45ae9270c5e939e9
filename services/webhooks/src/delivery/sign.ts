import { createHmac } from 'node:crypto';

interface Signable {
  readonly deliveryId: string;
  readonly event: string;
  /** The exact text that is sent. */
  readonly body: string;
  readonly secret: string;
  /** The previous secret, while it signs too. */
  readonly previousSecret: string | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

const secretPrefix = 'whsec_';

/**
 * Returns the headers that identify and sign a delivery: the product's own, keyed with the secret's text, and
 * the Standard Webhooks ones, keyed with the bytes that the secret encodes (webhooks §5.2). Only the latter can hold
 * two signatures.
 */
export function signatureHeaders(signable: Signable): [string, string][] {
  const { deliveryId, event, body, secret, previousSecret, timestamp } = signable;
  const own = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return [
    ['X-Service-Event', headerText(event)],
    ['X-Service-Delivery', deliveryId],
    ['X-Service-Timestamp', String(timestamp)],
    ['X-Service-Signature', `sha256=${own}`],
    ['webhook-id', deliveryId],
    ['webhook-timestamp', String(timestamp)],
    ['webhook-signature', secrets.map((text) => standardSignature(text, signable)).join(' ')],
  ];
}

function standardSignature(secret: string, { deliveryId, timestamp, body }: Signable): string {
  const key = Buffer.from(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret, 'base64');
  return `v1,${createHmac('sha256', key).update(`${deliveryId}.${timestamp}.`).update(body).digest('base64')}`;
}

/** Percent-encodes the characters that a header cannot carry. Few event names have any. */
const headerText = (text: string) => text.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
