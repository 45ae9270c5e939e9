import { invalidArgument, RecordbusError } from '../error.ts';
import { wait } from '../retry.ts';
import type { Transport } from '../transport.ts';
import { type Query, withQuery } from '../url.ts';
import { type OpenConnection, openConnection, type SentSubscription } from './connection.ts';
import { noteBegin } from './note-begin.ts';
import { shareHub } from './shared-hub.ts';
import type { StreamEvent } from './stream.ts';

/** A list, subscription or channel that receives messages. */
export interface Follower {
  /** The subscription to send (realtime §2.1), without `id` and `after`. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Whether its snapshot, or the first `ready`, has arrived. */
  hasBegun: boolean;
  /** The cursor from which it resumes: it has every change up to there. */
  cursor?: string | undefined;
  onMessage(type: string, data: StreamEvent['data']): void;
  /** Called when it ends: it was refused, or its rights have ended. */
  onError(error: RecordbusError): void;
}

/** One live connection for all followers of a client that send the same query. */
export interface Hub {
  /** Adds a follower. Returns a function that removes it. */
  follow(follower: Follower): () => void;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** How many subscriptions a connection may have (realtime §2.4). */
const maxFollowed = 100;
/** How often the session is checked while messages arrive, at most. Heartbeats come every 15 s. */
const freshForMs = 10_000;

const hubs = new WeakMap<Transport, Map<string, Hub>>();

/** The hub of a client. The query belongs to the connection, so each query has its own. */
export function hubOf(transport: Transport, query: Query = {}): Hub {
  const known = hubs.get(transport) ?? new Map<string, Hub>();
  hubs.set(transport, known);
  const text = withQuery('', query);
  const hub = known.get(text) ?? shareHub(transport, text, createHub(transport, query));
  known.set(text, hub);
  return hub;
}

/**
 * Creates one connection's hub. While it has followers, it keeps a connection open, and reopens it whenever it ends. No
 * change is missed, because it resumes after the last cursor. When the followers change, it changes the connection's
 * subscriptions, or opens a new connection if they cannot change.
 */
function createHub(transport: Transport, query: Query): Hub {
  const followers = new Map<string, Follower>();
  let [lastId, pauseMs, isRunning, isReached] = [0, 0, false, false];
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
        // Followers that are added in one turn are sent in one request.
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
    const opened = await openConnection(transport, query, subscriptions, signal, () => connection.abort());
    open = opened;
    // A connection that ends before its first message is as one that was not there.
    pauseMs = slowed(pauseMs);
    let isFirst = true;
    try {
      for await (const event of opened.events) {
        if (signal.aborted) return;
        if (isFirst) pauseMs = slowed(0);
        isFirst = false;
        isReached = true;
        apply(event);
        keepFresh(opened);
      }
    } finally {
      open = undefined;
    }
  }

  /** Changes the connection's subscriptions; undefined while no open connection can change them. */
  const changes = () => (connection.signal.aborted ? undefined : open?.subscriptions);

  function leave(id: string): void {
    if (!followers.delete(id)) return;
    const current = changes();
    if (!current) {
      restart();
      return;
    }
    current.remove(id);
    // Another follower may take its place in the same turn.
    queueMicrotask(() => {
      if (followers.size === 0) connection.abort();
    });
  }

  /**
   * Refreshes the token: the connection ends with it, and a page that only follows sends no request that would refresh
   * it.
   */
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

  /**
   * A permanent refusal ends all followers: the server refuses a connection only if all its subscriptions are refused.
   */
  function onFailure(error: unknown): void {
    const isFinal =
      error instanceof RecordbusError && error.status >= 400 && error.status < 500 && error.status !== 429;
    // A proxy's page. It passes, unless it is all that ever came: then the address may be wrong.
    const isElsewhere = error instanceof RecordbusError && error.code === 'unexpected_answer' && !isReached;
    if (isFinal || isElsewhere) for (const id of [...followers.keys()]) end(id, error);
    pauseMs = slowed(pauseMs);
  }

  return {
    follow(follower) {
      if (followers.size >= maxFollowed) {
        const refusal = invalidArgument(`A client follows at most ${maxFollowed} collections, records and channels.`);
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

/** A follower's subscription, with the cursor up to which it has every change. */
const subscriptionOf = (id: string, { request, hasBegun, cursor }: Follower): SentSubscription => ({
  ...request,
  id,
  ...('collection' in request && hasBegun && cursor !== undefined && { after: cursor }),
});

/** Whether a `ready` is about a follower. Without names it is about all followers on its connection. */
const isAbout = ({ subs }: StreamEvent['data'], id: string): boolean => !Array.isArray(subs) || subs.includes(id);

/** The next pause: twice the last one, with a random part, so that clients do not all reconnect at once. */
const slowed = (pauseMs: number): number =>
  Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2)) * (0.5 + Math.random() / 2);

const refusalOf = ({ error, code, details }: StreamEvent['data']): RecordbusError =>
  new RecordbusError(String(error), {
    status: 0,
    code: String(code),
    details: Object(details) as Readonly<Record<string, unknown>>,
  });
