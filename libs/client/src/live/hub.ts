import { invalidArgument, RecordbusError } from '../error.ts';
import { wait } from '../retry.ts';
import type { Transport } from '../transport.ts';
import { type OpenConnection, openConnection, type SentSubscription } from './connection.ts';
import { noteBegin } from './note-begin.ts';
import { shareHub } from './shared-hub.ts';
import type { StreamEvent } from './stream.ts';

/** What follows one collection, record or channel. */
export interface Follower {
  /** The subscription as it is sent (realtime §2.1), without `id` and `after`. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Whether its first state, or the first `ready`, has come. */
  hasBegun: boolean;
  /** From where it resumes: it has every change up to here. */
  cursor?: string | undefined;
  onMessage(type: string, data: StreamEvent['data']): void;
  /** Its end: it was refused, or its rights are gone. */
  onError(error: RecordbusError): void;
}

/** One live connection for all that a client follows. */
export interface Hub {
  /** Adds a follower. Returns how to remove it. */
  follow(follower: Follower): () => void;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** The most subscriptions of a connection (realtime §2.4). */
const mostFollowed = 100;
/** How long a session needs no look while messages come. Heartbeats come every 15 s. */
const freshForMs = 10_000;

const hubs = new WeakMap<Transport, Hub>();

/** The hub of a client. */
export function hubOf(transport: Transport): Hub {
  const hub = hubs.get(transport) ?? shareHub(transport, createHub(transport));
  hubs.set(transport, hub);
  return hub;
}

/**
 * Creates the hub of one connection. It opens a connection while there is something to follow, and again whenever it ends:
 * nothing is missed, because it resumes behind the last cursor. When what is followed changes, it changes the connection,
 * or opens another one where that cannot be changed.
 */
function createHub(transport: Transport): Hub {
  const followers = new Map<string, Follower>();
  let [lastId, pauseMs, isRunning] = [0, 0, false];
  let connection = new AbortController();
  let open: OpenConnection | undefined;
  let freshAtMs = 0;

  function restart(): void {
    connection.abort();
    if (!isRunning) void run();
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (followers.size > 0) {
      connection = new AbortController();
      const { signal } = connection;
      try {
        // What is added in one go is sent in one request.
        await wait(pauseMs, signal);
        await connect(signal);
      } catch (error) {
        if (!signal.aborted) onFailure(error);
      }
    }
    isRunning = false;
  }

  async function connect(signal: AbortSignal): Promise<void> {
    const subscriptions = [...followers].map(([id, follower]) => subscriptionOf(id, follower));
    const opened = await openConnection(transport, subscriptions, signal, () => connection.abort());
    open = opened;
    pauseMs = slowed(0);
    try {
      for await (const event of opened.events) {
        if (signal.aborted) return;
        apply(event);
        keepFresh(opened);
      }
    } finally {
      open = undefined;
    }
  }

  /** How to change what the connection follows; undefined while there is none that can be changed. */
  const changes = () => (connection.signal.aborted ? undefined : open?.subscriptions);

  function leave(id: string): void {
    if (!followers.delete(id)) return;
    const current = changes();
    if (!current) {
      restart();
      return;
    }
    current.remove(id);
    // Something else may be followed in its place in the same go.
    queueMicrotask(() => {
      if (followers.size === 0) connection.abort();
    });
  }

  /** The connection ends with its token, and a page that only follows sends no request that would refresh it. */
  function keepFresh({ renew }: OpenConnection): void {
    if (Date.now() - freshAtMs < freshForMs) return;
    freshAtMs = Date.now();
    void transport.keepFresh().then(renew, () => {});
  }

  function apply({ type, id, data }: StreamEvent): void {
    const follower = followers.get(String(data.sub));
    const reached = id ?? (type === 'ready' ? String(data.cursor) : undefined);
    if (reached !== undefined)
      for (const one of followers.values()) if (id !== undefined || one.cursor === undefined) one.cursor = reached;
    if (follower && typeof data.cursor === 'string') follower.cursor = data.cursor;
    if (type === 'ready') {
      for (const [one, follower] of followers)
        if (!follower.request.snapshot && isAbout(data, one)) begin(follower, type, data);
    } else if (type === 'reconnect') pauseMs = Number(data.after_ms);
    else if (type === 'error') end(String(data.sub), refusalOf(data));
    else if (follower) begin(follower, type, data);
  }

  function begin(follower: Follower, type: string, data: StreamEvent['data']): void {
    noteBegin(follower, type);
    follower.onMessage(type, data);
  }

  function end(id: string, error: RecordbusError): void {
    const follower = followers.get(id);
    followers.delete(id);
    if (followers.size === 0) connection.abort();
    follower?.onError(error);
  }

  /** A refusal that will not pass ends all that is followed: the server refuses a connection when nothing of it is good. */
  function onFailure(error: unknown): void {
    const isFinal =
      error instanceof RecordbusError && error.status >= 400 && error.status < 500 && error.status !== 429;
    if (isFinal) for (const id of [...followers.keys()]) end(id, error);
    pauseMs = slowed(pauseMs);
  }

  return {
    follow(follower) {
      if (followers.size >= mostFollowed) {
        const refusal = invalidArgument(`A client follows at most ${mostFollowed} collections, records and channels.`);
        queueMicrotask(() => follower.onError(refusal));
        return () => {};
      }
      lastId += 1;
      const id = String(lastId);
      followers.set(id, follower);
      const current = changes();
      if (current) current.add(subscriptionOf(id, follower));
      else {
        pauseMs = 0;
        restart();
      }
      return () => leave(id);
    },
  };
}

/** The subscription of a follower, behind what it has. */
const subscriptionOf = (id: string, { request, hasBegun, cursor }: Follower): SentSubscription => ({
  ...request,
  id,
  ...('collection' in request && hasBegun && cursor !== undefined && { after: cursor }),
});

/** Whether a `ready` is about a follower: it names some, or is about all of its connection. */
const isAbout = ({ subs }: StreamEvent['data'], id: string): boolean => !Array.isArray(subs) || subs.includes(id);

/** The next pause: twice the last one, spread by chance, so that not all clients come at once. */
const slowed = (pauseMs: number): number =>
  Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2)) * (0.5 + Math.random() / 2);

const refusalOf = ({ error, code, details }: StreamEvent['data']): RecordbusError =>
  new RecordbusError(String(error), {
    status: 0,
    code: String(code),
    details: Object(details) as Readonly<Record<string, unknown>>,
  });
