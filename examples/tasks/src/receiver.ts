import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

interface Envelope {
  readonly event: string;
  readonly data: { readonly record: { readonly title?: string; readonly status?: string } } | null;
}

/** A receiver for task events. */
export interface TaskReceiver extends AsyncDisposable {
  readonly url: string;
  /** Sets the webhook's secret. Until then the receiver refuses every delivery, and each is retried. */
  verifyWith(secret: string): void;
}

/** Starts a receiver that verifies each delivery, and prints what happened. */
export async function startTaskReceiver(say: (line: string) => void): Promise<TaskReceiver> {
  let webhook: Webhook | undefined;
  /** Deliveries come at least once. */
  const handled = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    const header = (name: string): string => String(request.headers[name] ?? '');
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    try {
      if (!webhook) throw new Error('there is no secret yet');
      webhook.verify(body, Object.fromEntries(names.map((name) => [name, header(name)])));
    } catch {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(204).end();
    if (handled.has(header('webhook-id'))) return;
    handled.add(header('webhook-id'));
    const { event, data }: Envelope = JSON.parse(body);
    say(`${event}: ${data?.record.title ?? ''} (${data?.record.status ?? ''})`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    verifyWith(secret) {
      webhook = new Webhook(secret);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
