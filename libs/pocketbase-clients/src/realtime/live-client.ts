import { setTimeout as delay } from 'node:timers/promises';
import type { Catalog } from '../catalog.ts';
import type { CallProduct, JsonObject } from '../product.ts';
import { Refusal } from '../refusal.ts';
import type { Feed } from './feed.ts';
import { openFeeds } from './open-feeds.ts';
import { readTopic, type Topic } from './topic.ts';

/** Who follows, and how its calls are made. */
export interface Follower {
  /** Names the account; empty for a guest. */
  readonly account: string;
  /** Makes calls until the signal aborts. */
  readonly callUntil: (signal: AbortSignal) => CallProduct;
  readonly findCatalog: () => Promise<Catalog>;
  /** Finds where topics continue that the client followed before it connected again; never throws. */
  readonly findEarlier: (topics: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** A client's stream of events, and what it follows. */
export interface LiveClient {
  /** Replaces what the client follows. Throws 403 for another account than before. */
  follow(follower: Follower, topics: readonly string[]): Promise<void>;
  readonly isFollowing: boolean;
  /** Where each topic that it follows can be continued. */
  readonly cursors: ReadonlyMap<string, string>;
  /** Sends a message that is for this client alone, once, if it asked for it. Returns whether it did. */
  deliver(event: string, data: JsonObject): boolean;
  /** Ends what it follows. */
  close(): void;
}

/** The client's side of the stream. */
interface ClientStream {
  send(event: string, data: JsonObject): void;
  /** Ends the stream: the client connects again. */
  end(): void;
}

/** Between attempts to open a feed again, in milliseconds. */
const retryDelaysMs = [200, 1000, 2000];

/** Creates a stream's client. */
export function createLiveClient(stream: ClientStream): LiveClient {
  let account = '';
  let current:
    | { readonly feed: Feed | undefined; readonly topics: readonly Topic[]; readonly end: AbortController }
    | undefined;
  let turn: Promise<void> = Promise.resolve();
  let isClosed = false;
  let awaited = new Set<string>();

  async function replace(follower: Follower, texts: readonly string[], attempt = 0): Promise<void> {
    if (isClosed) return;
    const before = current;
    // Its cursors continue the topics that stay: every message up to them was sent, and no later one will be.
    const cursors = new Map(before?.feed?.cursors);
    before?.end.abort();
    const catalog = await follower.findCatalog();
    const topics = [...new Set(texts)].map((text) => readTopic(catalog, text)).filter((topic) => topic !== undefined);
    const earlier = await follower.findEarlier(topics.flatMap(({ text }) => (cursors.has(text) ? [] : [text])));
    const end = new AbortController();
    const feed = await openFeeds({
      catalog,
      call: follower.callUntil(end.signal),
      topics,
      after: ({ text }) => cursors.get(text) ?? earlier.get(text),
      isReturning: ({ text }) => !cursors.has(text) && earlier.has(text),
      send: (event, data) => {
        if (!end.signal.aborted) stream.send(event, data);
      },
    }).catch((error: unknown) => {
      end.abort();
      throw error;
    });
    current = { feed, topics, end };
    if (isClosed) end.abort();
    void feed?.ended.then((reason) => {
      if (end.signal.aborted) return;
      if (reason === 'over') stream.end();
      else turn = turn.then(() => retry(follower, texts, end, attempt));
    });
  }

  async function retry(
    follower: Follower,
    texts: readonly string[],
    broken: AbortController,
    attempt: number,
  ): Promise<void> {
    const delayMs = retryDelaysMs[attempt];
    if (delayMs === undefined) stream.end();
    if (delayMs === undefined || current?.end !== broken || isClosed) return;
    await delay(delayMs, undefined, { ref: false });
    try {
      await replace(follower, texts, attempt + 1);
    } catch {
      stream.end();
    }
  }

  return {
    follow(follower, texts) {
      if (account !== '' && account !== follower.account)
        throw new Refusal(403, "The current and the previous request authorization don't match.");
      account = follower.account;
      awaited = new Set(texts.filter((text) => text.startsWith('@')));
      const done = turn.then(() => replace(follower, texts));
      turn = done.catch(() => {});
      return done;
    },
    get isFollowing() {
      return current?.feed !== undefined;
    },
    get cursors() {
      return current?.feed?.cursors ?? new Map();
    },
    deliver(event, data) {
      if (!awaited.delete(event)) return false;
      stream.send(event, data);
      return true;
    },
    close() {
      isClosed = true;
      current?.end.abort();
    },
  };
}
