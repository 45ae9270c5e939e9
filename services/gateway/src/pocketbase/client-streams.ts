import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Catalog, createLiveClient, type LiveClient, Refusal } from '@recordbus/pocketbase-clients';
import { heartbeat } from '@recordbus/process/background';
import { clientKey } from '@recordbus/request/client-key';
import { createConnectionScope } from '@recordbus/request/request-scope';
import type { CallAs } from './call-pipeline.ts';
import { type Delivery, type GatewayAnswer, newClientId, type Submission } from './other-gateways.ts';
import { beatSec, type Replay } from './replay.ts';

interface StreamsDeps {
  /** This gateway's name among the others. */
  readonly gateway: string;
  readonly callAs: CallAs;
  readonly findCatalog: () => Promise<Catalog>;
  /** The address of a request's client, behind proxies. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Most streams for one address. */
  readonly maxOfAddress: () => number;
  readonly replay: Pick<Replay, 'note' | 'end' | 'find'>;
}

/** The streams that clients have open at this gateway. */
export interface ClientStreams {
  /** Opens a stream on an answer whose head is set. Throws 429 for an address with too many. */
  open(request: IncomingMessage, response: ServerResponse): void;
  /** Replaces what a client follows. Undefined if this gateway does not have it. */
  submit(submission: Submission): Promise<GatewayAnswer | undefined>;
  /** Sends a client a message that it waits for. Undefined if this gateway does not have such a client. */
  deliver(delivery: Delivery): Promise<GatewayAnswer | undefined>;
  /** Ends all streams: clients connect to another gateway. */
  close(): void;
}

interface OpenStream {
  readonly client: LiveClient;
  readonly response: ServerResponse;
  readonly openedAtMs: number;
  /** The client's address, as limits count it. */
  readonly address: string;
  /** Names the account that follows; empty for a guest. */
  account: string;
}

const beatMs = beatSec * 1000;
/** A stream that follows nothing ends after this time, in milliseconds, as in PocketBase. */
const idleMs = 300_000;
/** A client that does not read is cut when this much waits for it, in bytes. */
const maxUnreadBytes = 1024 * 1024;

/** Creates the streams. */
export function createClientStreams({
  gateway,
  callAs,
  findCatalog,
  addressOf,
  maxOfAddress,
  replay,
}: StreamsDeps): ClientStreams {
  const streams = new Map<string, OpenStream>();
  const counts = new Map<string, number>();
  let endBeats: (() => void) | undefined;

  function beat(): void {
    for (const [id, { client, response, openedAtMs }] of streams)
      if (!client.isFollowing && performance.now() - openedAtMs > idleMs) response.end();
      else {
        note(id);
        write(response, ':\n\n');
      }
  }

  function note(id: string): void {
    const stream = streams.get(id);
    if (stream?.client.isFollowing) replay.note(toReplayed(id, stream));
  }

  function leave(id: string, address: string, isWhole: boolean): void {
    const stream = streams.get(id);
    stream?.client.close();
    streams.delete(id);
    if (stream) replay.end(toReplayed(id, stream), isWhole);
    const left = (counts.get(address) ?? 1) - 1;
    if (left > 0) counts.set(address, left);
    else counts.delete(address);
    if (streams.size > 0) return;
    endBeats?.();
    endBeats = undefined;
  }

  return {
    open(request, response) {
      const address = clientKey(addressOf(request));
      const count = counts.get(address) ?? 0;
      if (count >= maxOfAddress()) throw new Refusal(429, 'Too Many Requests.');
      const id = newClientId(gateway);
      const client = createLiveClient({
        send: (event, data) => write(response, `id:${id}\nevent:${event}\ndata:${JSON.stringify(data)}\n\n`),
        end: () => response.end(),
      });
      counts.set(address, count + 1);
      streams.set(id, { client, response, openedAtMs: performance.now(), address, account: '' });
      endBeats ??= heartbeat(beatMs, beat);
      const bound = createConnectionScope(() => response.destroy());
      response.once(
        'close',
        // After an error, or a cut, nobody knows what the client has got.
        bound(() => leave(id, address, !request.socket.errored && !unread.has(response))),
      );
      response.on('error', () => {});
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      });
      write(response, `id:${id}\nevent:PB_CONNECT\ndata:${JSON.stringify({ clientId: id })}\n\n`);
    },

    async submit({ clientId, topics, account, address, headers }) {
      const stream = streams.get(clientId);
      if (!stream) return undefined;
      const callUntil = (signal: AbortSignal) => callAs({ address, headers, signal }, () => {});
      const findEarlier = (texts: readonly string[]) => replay.find({ account, address: stream.address }, texts);
      try {
        await stream.client.follow({ account, callUntil, findCatalog, findEarlier }, topics);
        stream.account = account;
        note(clientId);
        return { status: 204, message: '' };
      } catch (error) {
        if (error instanceof Refusal) return { status: error.status, message: error.message };
        throw error;
      }
    },

    async deliver({ clientId, event, data }) {
      return streams.get(clientId)?.client.deliver(event, data) ? { status: 204, message: '' } : undefined;
    },

    close() {
      for (const { response } of streams.values()) response.end();
    },
  };
}

const toReplayed = (clientId: string, { client, account, address }: OpenStream) => ({
  clientId,
  account,
  address,
  cursors: client.cursors,
});

/** Streams that were cut because their clients do not read. */
const unread = new WeakSet<ServerResponse>();

function write(response: ServerResponse, text: string): void {
  if (response.writableLength > maxUnreadBytes) {
    unread.add(response);
    response.destroy();
  } else if (!response.writableEnded) response.write(text);
}
