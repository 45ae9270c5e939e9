import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

interface Envelope {
  readonly event: string;
  readonly data: { readonly id?: string; readonly record?: Readonly<Record<string, unknown>> };
}

/** A customer's receiver. */
export interface CustomerReceiver extends AsyncDisposable {
  readonly url: string;
  /** The verified bodies so far. */
  readonly bodies: readonly Envelope[];
  /** Sets the endpoint's secret. Until then the receiver refuses every delivery, and each is retried. */
  verifyWith(secret: string): void;
}

/** Starts a receiver that verifies each delivery with the Standard Webhooks library, and says what came. */
export async function startCustomerReceiver(say: (line: string) => void): Promise<CustomerReceiver> {
  let webhook: Webhook | undefined;
  const bodies: Envelope[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    try {
      if (!webhook) throw new Error('there is no secret yet');
      webhook.verify(body, Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')])));
    } catch {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(204).end();
    const envelope: Envelope = JSON.parse(body);
    bodies.push(envelope);
    say(`${envelope.event}: ${JSON.stringify(envelope.data.record ?? envelope.data)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bodies,
    verifyWith(secret) {
      webhook = new Webhook(secret);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
