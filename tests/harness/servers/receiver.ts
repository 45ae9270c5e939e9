import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../eventually.ts';
import { type JsonObject, textAt } from '../json.ts';

/** How the receiver handles a request; by default it answers 200. */
type Behaviour =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Whether interim answers (100, 102, 103) come first. */
      readonly interim?: boolean;
    }
  /** Does not answer until `release` is called. */
  | 'hang'
  /** Answers 200 and then a slow endless body. */
  | 'drip'
  /** Closes the connection. */
  | 'reset'
  /** Answers 200 and then 100 MB, as fast as they are read. */
  | 'flood';

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Empty for a request without a body. */
  readonly json: JsonObject;
  readonly atMs: number;
  /** The request's source port. */
  readonly fromPort: number | undefined;
}

/** A webhook receiver on the loopback address. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly deliveries: readonly Delivery[];
  /** How many unanswered requests the sender gave up. */
  readonly abandoned: number;
  /** How many bytes senders read from `flood` answers. */
  readonly floodedBytes: number;
  /** Answers all unanswered requests, by default with 200. */
  release(behaviour?: Exclude<Behaviour, 'hang' | 'flood'>): void;
  /** Sets how further requests are handled. A list's entries apply one by one; the last one stays. */
  behave(...behaviours: readonly Behaviour[]): void;
  /** Sets a function that decides by each further request's path and body. */
  behave(byRequest: (path: string, body: JsonObject) => Behaviour): void;
  /** Waits until `count` requests have arrived. */
  received(count: number, timeoutMs?: number): Promise<readonly Delivery[]>;
}

const dripIntervalMs = 50;
const floodBytes = 100 * 1024 ** 2;

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const hanging = new Set<ServerResponse>();
  let abandoned = 0;
  let floodedBytes = 0;
  let planned: (path: string, body: JsonObject) => Behaviour = () => ({ status: 200 });

  const hold = (response: ServerResponse): void => {
    hanging.add(response);
    response.once('close', () => {
      hanging.delete(response);
      if (!response.writableFinished) abandoned += 1;
    });
  };
  const flood = (response: ServerResponse): void => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const write = (): void => {
      for (let isRoom = true; isRoom; ) {
        if (response.destroyed || floodedBytes >= floodBytes) return void response.end();
        isRoom = response.write(chunk);
        floodedBytes += chunk.length;
      }
    };
    response.writeHead(200).on('drain', write);
    write();
  };
  const server = createServer((request, response) => {
    const atMs = Date.now();
    text(request).then(
      (body) => {
        const json: JsonObject = body === '' ? {} : JSON.parse(body);
        deliveries.push({
          path: request.url ?? '',
          headers: request.headers,
          text: body,
          json,
          atMs,
          fromPort: request.socket.remotePort,
        });
        const next = planned(request.url ?? '', json);
        if (next === 'hang') hold(response);
        else if (next === 'flood') flood(response);
        else answer(response, next);
      },
      // The sender disconnected before the body's end; there is nothing to record.
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
    get floodedBytes() {
      return floodedBytes;
    },
    release(behaviour = { status: 200 }) {
      for (const response of hanging) answer(response, behaviour);
    },
    behave: (...behaviours: readonly (Behaviour | ((path: string, body: JsonObject) => Behaviour))[]) => {
      const [first] = behaviours;
      planned = typeof first === 'function' ? first : inTurn(behaviours as readonly Behaviour[]);
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

function answer(response: ServerResponse, behaviour: Exclude<Behaviour, 'hang' | 'flood'>): void {
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
  if (behaviour.interim) {
    response.writeContinue();
    response.writeProcessing();
    response.writeEarlyHints({ link: '</a>; rel=preload' });
  }
  response.writeHead(behaviour.status, behaviour.headers);
  response.end(behaviour.body);
}

/** Returns a list's entries one by one, and the last one from then on. */
function inTurn(behaviours: readonly Behaviour[]): () => Behaviour {
  let plan = behaviours;
  return () => {
    const [next = { status: 200 }, ...rest] = plan;
    if (rest.length > 0) plan = rest;
    return next;
  };
}

/** Returns the record ids in the received events, with duplicates. */
export const receivedRecordIds = ({ deliveries }: Pick<Receiver, 'deliveries'>): string[] =>
  deliveries.map(({ json }) => textAt(json, 'data.record.id'));
