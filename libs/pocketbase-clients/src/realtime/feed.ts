import type { Catalog } from '../catalog.ts';
import { type CallProduct, isObject, type JsonObject, readAnswer } from '../product.ts';
import { pickFields } from '../records/pick-fields.ts';
import { toRecord } from '../records/to-record.ts';
import { toGeneralRefusal } from '../records/to-refusal.ts';
import { type LiveMessage, readMessages } from './read-messages.ts';
import type { Topic } from './topic.ts';

/** Why a feed has ended. */
export type FeedEnd =
  /** The caller's rights have ended, or changes may be missing: the client connects again and reads its records. */
  | 'over'
  /** It can be opened again after its cursor. */
  | 'broken';

/** A live connection to our API, for some topics of one client. */
export interface Feed {
  /** After which change each topic can be continued. */
  readonly cursors: ReadonlyMap<string, string>;
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<FeedEnd>;
}

/** What a feed needs. */
export interface FeedOptions {
  readonly catalog: Catalog;
  readonly call: CallProduct;
  readonly topics: readonly Topic[];
  /** Where a topic is continued; undefined at the end of the stream. */
  readonly after: (topic: Topic) => string | undefined;
  /** Whether its client has just connected again, so that nothing is won if it does once more. */
  readonly isReturning: (topic: Topic) => boolean;
  readonly send: (event: string, data: JsonObject) => void;
}

const actions: Readonly<Record<string, string>> = {
  create: 'create',
  update: 'update',
  // PocketBase has no message for a record that begins to match.
  enter: 'update',
  delete: 'delete',
};

/**
 * Opens a feed, and resolves when every topic is followed. Undefined if the caller may follow none, as PocketBase sends
 * nothing for such a topic. Throws 429 and 5xx.
 */
export async function openFeed(options: FeedOptions): Promise<Feed | undefined> {
  const { catalog, call, topics, after, isReturning, send } = options;
  const subscriptions = topics.map((topic, index) => {
    const cursor = after(topic);
    return { id: String(index), ...topic.subscription, ...(cursor !== undefined && { after: cursor }) };
  });
  const answer = await call({ method: 'POST', path: '/api/v1/realtime', body: { subscriptions } });
  if (answer.status !== 200) {
    const refusal = toGeneralRefusal(await readAnswer(answer));
    if (refusal) throw refusal;
    return undefined;
  }
  const returning = new Set(topics.filter(isReturning));
  const ready = Promise.withResolvers<void>();
  // The connection's first cursor may be earlier than where a topic is continued.
  const cursors = new Map<string, string>();
  for (const topic of topics) {
    const from = after(topic);
    if (from !== undefined) cursors.set(topic.text, from);
  }
  const ended = follow().catch((): FeedEnd => 'broken');
  await Promise.race([ready.promise, ended]);
  return { ended, cursors };

  async function follow(): Promise<FeedEnd> {
    for await (const message of readMessages(answer.body)) {
      noteCursor(message);
      if (message.type === 'ready') ready.resolve();
      if (isOver(message) && !isKnown(message)) return 'over';
      if (message.type === 'reconnect') return 'broken';
      pass(message);
    }
    return 'broken';
  }

  /** Whether a client that has just connected again misses these changes. It has nothing to do about it. */
  function isKnown({ type, data }: LiveMessage): boolean {
    const topic = topics[Number(data.sub)];
    return type === 'resync' && topic !== undefined && returning.delete(topic);
  }

  /** A connection may be further in one topic than in another: only its own cursor is about all of them. */
  function noteCursor({ type, cursor, data }: LiveMessage): void {
    const topic = topics[Number(data.sub)];
    if (topic && typeof data.cursor === 'string')
      cursors.set(topic.text, laterOf(cursors.get(topic.text), data.cursor));
    const ofAll = cursor ?? (type === 'heartbeat' && typeof data.cursor === 'string' ? data.cursor : undefined);
    if (ofAll === undefined) return;
    for (const { text } of topics) cursors.set(text, laterOf(cursors.get(text), ofAll));
  }

  function pass({ type, data }: LiveMessage): void {
    const topic = topics[Number(data.sub)];
    const action = Object.hasOwn(actions, type) ? actions[type] : undefined;
    if (!topic || action === undefined) return;
    const shown: JsonObject = isObject(data.record) ? data.record : { id: data.id };
    send(topic.text, { action, record: pickFields(toRecord(catalog, topic.collection, shown), topic.fields) });
  }
}

/** Returns the later of two cursors, `<epoch>-<sequence>`; of two epochs, the one that came last. */
const laterOf = (before: string | undefined, next: string): string =>
  before !== undefined && isLater(before, next) ? before : next;

/** Returns the earlier of two cursors; of two epochs, the one that came first. */
export const earlierOf = (before: string | undefined, next: string): string =>
  before === undefined || isLater(before, next) ? next : before;

/** Whether a cursor is later than another one of its epoch. */
function isLater(cursor: string, other: string): boolean {
  const [epoch, sequence] = cursor.split('-');
  const [otherEpoch, otherSequence] = other.split('-');
  return epoch === otherEpoch && Number(sequence) > Number(otherSequence);
}

/** PocketBase's clients know no message by which they could learn that changes are missing. */
const isOver = ({ type, data }: LiveMessage): boolean =>
  type === 'revoked' || (type === 'resync' && data.reason !== 'access');
