import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from './eventually.ts';
import type { JsonObject } from './json.ts';

/** What the receiver does with a request; the default is to answer 200. */
export type Behaviour =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Does not answer until `release` is called. */
  | 'hang'
  /** Answers 200 and then a byte now and then, for ever. */
  | 'drip'
  /** Cuts the connection. */
  | 'reset';

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: JsonObject;
  readonly atMs: number;
}

/** A receiver of webhooks on the loopback address. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly deliveries: readonly Delivery[];
  /** Requests that were left hanging until the sender gave them up. */
  readonly abandoned: number;
  /** Answers every request that hangs, with 200 unless told otherwise. */
  release(behaviour?: Exclude<Behaviour, 'hang'>): void;
  /** What to do with the requests from now on; a list is used up one by one and its last entry stays. */
  behave(...behaviours: readonly Behaviour[]): void;
  /** Waits until so many requests have come in. */
  received(count: number, timeoutMs?: number): Promise<readonly Delivery[]>;
}

const dripIntervalMs = 50;

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const hanging = new Set<ServerResponse>();
  let abandoned = 0;
  let plan: readonly Behaviour[] = [{ status: 200 }];

  const hold = (response: ServerResponse): void => {
    hanging.add(response);
    response.once('close', () => {
      hanging.delete(response);
      if (!response.writableFinished) abandoned += 1;
    });
  };
  const server = createServer((request, response) => {
    const atMs = Date.now();
    text(request).then(
      (body) => {
        deliveries.push({
          path: request.url ?? '',
          headers: request.headers,
          text: body,
          json: JSON.parse(body),
          atMs,
        });
        const [next = { status: 200 }, ...rest] = plan;
        if (rest.length > 0) plan = rest;
        if (next === 'hang') hold(response);
        else answer(response, next);
      },
      // The sender went away in the middle; there is nothing to record.
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    deliveries,
    get abandoned() {
      return abandoned;
    },
    release(behaviour = { status: 200 }) {
      for (const response of hanging) answer(response, behaviour);
    },
    behave: (...behaviours) => {
      plan = behaviours;
    },
    received: (count, timeoutMs) =>
      eventually(
        `${count} deliveries`,
        () => {
          if (deliveries.length < count) throw new Error(`${deliveries.length} so far`);
          return deliveries;
        },
        timeoutMs === undefined ? {} : { timeoutMs },
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(response: ServerResponse, behaviour: Exclude<Behaviour, 'hang'>): void {
  if (behaviour === 'reset') {
    response.destroy();
    return;
  }
  if (behaviour === 'drip') {
    response.writeHead(200);
    const timer = setInterval(() => response.write('.'), dripIntervalMs);
    response.once('close', () => clearInterval(timer));
    return;
  }
  response.writeHead(behaviour.status, behaviour.headers);
  response.end(behaviour.body);
}
