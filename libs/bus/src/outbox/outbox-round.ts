import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from '../bus.ts';
import { referenceTo } from '../envelope-text.ts';
import type { StreamRoom } from '../room/stream-room.ts';
import {
  flushCommits,
  keepLargeEvent,
  listUnpublished,
  markPublished,
  noteFailure,
  type OutboxRow,
  type Partitions,
  republishAfter,
} from './outbox-store.ts';
import { eventHeaders, isBusFailure, publishEvent } from './publish-event.ts';

export interface RoundResult {
  /** Whether more events probably wait. */
  readonly more: boolean;
  /** The highest sequence number that the stream assigned; 0 when nothing was published. */
  readonly lastSequence: number;
  /** Why nothing can be published now; absent when the bus works. */
  readonly busFailure?: unknown;
  /** Whether the stream had no room for an event. */
  readonly noRoom: boolean;
}

export interface RoundOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly subjectPrefix: string;
  /** The highest sequence number that the stream is known to have assigned. */
  readonly knownSequence: number;
  /** The partitions that this process holds. */
  readonly partitions: Partitions;
  /**
   * Called before every event. Returns whether this process still holds the partition, on the connection that verified
   * the stream.
   */
  readonly mayPublish: (partition: number) => boolean;
  /** How much the stream can take without dropping messages that a reader still needs. */
  readonly room: StreamRoom;
  /** Called when the stream has assigned a number twice, before lost events are published again. */
  readonly onReplaced: () => Promise<void>;
}

const roundSize = 500;
const maxInFlight = 64;
/** An event is parked after it has failed this often itself. */
const failureLimit = 5;
/** An upper bound for the bytes that the protocol adds to subject, headers and body. */
const protocolBytes = 64;

/**
 * Publishes the oldest waiting events, up to 64 at a time. One record's events are published one after another, each
 * only when the stream has stored the previous one. An event that fails waits for another round, and so do its record's
 * later events.
 */
export async function publishRound(options: RoundOptions): Promise<RoundResult> {
  const { database, bus, log, knownSequence, room } = options;
  const rows = await listUnpublished(database.query, options.partitions, roundSize);
  // A database crash must not undo a write whose event is on the stream.
  if (rows[0]?.may_be_lost) await flushCommits(database.query);
  const done: { ids: number[]; sequences: number[] } = { ids: [], sequences: [] };
  let busFailure: unknown;
  let noRoom = false;
  /** The lowest sequence number that was assigned twice, which means that the stream was replaced. */
  let repeatedFrom = Number.POSITIVE_INFINITY;

  /** Publishes an event; returns whether the same record's next event may follow. */
  async function publish(row: OutboxRow): Promise<boolean> {
    if (busFailure || noRoom || !options.mayPublish(row.partition)) return false;
    try {
      const body = await bodyFor(options, row);
      // Checked again: a process that was frozen meanwhile notices that it lost the lease.
      if (!options.mayPublish(row.partition)) return false;
      noRoom ||= !room.take(roomFor(row, body));
      if (noRoom) return false;
      const { seq, duplicate } = await publishEvent(bus, options.subjectPrefix, row, body);
      done.ids.push(row.id);
      done.sequences.push(seq);
      if (!duplicate && seq <= knownSequence) repeatedFrom = Math.min(repeatedFrom, seq);
      return true;
    } catch (error) {
      if (isBusFailure(error)) {
        busFailure ??= error;
        return false;
      }
      const parked = await noteFailure(database.query, row.id, String(error), failureLimit);
      if (parked)
        log.error({ err: error, event_id: row.event_id, event: row.event }, 'event parked: it cannot be published');
      return parked;
    }
  }

  await inLanes(rows, widthFor(rows, room.maxUnderWayBytes), publish);
  if (repeatedFrom <= knownSequence) {
    await options.onReplaced();
    const lost = await republishAfter(database.query, repeatedFrom - 1);
    log.warn({ events: lost }, 'the stream was replaced, publishing its lost events again');
  }
  if (done.ids.length > 0) await markPublished(database.query, done.ids, done.sequences);
  return {
    more: rows.length === roundSize && done.ids.length > 0,
    lastSequence: Math.max(0, ...done.sequences),
    noRoom,
    ...(busFailure !== undefined && { busFailure }),
  };
}

/** Returns the envelope, or a reference to it when the message would be too large for the server or the stream. */
async function bodyFor({ database, bus, log, room }: RoundOptions, row: OutboxRow): Promise<Uint8Array | string> {
  const limitBytes = Math.min(bus.maxPayloadBytes(), room.maxMessageBytes) - protocolBytes;
  // A UTF-16 unit takes at most three bytes in UTF-8, so most bodies need no exact measure.
  if (row.body.length * 3 + 2048 < limitBytes) return row.body;
  const body = Buffer.from(row.body);
  if (body.length + eventHeaders(row).toString().length < limitBytes) return body;
  const reference = referenceTo(row.body);
  await keepLargeEvent(database.query, row);
  log.info({ event_id: row.event_id, event: row.event, bytes: body.length }, 'large event published as a reference');
  return reference;
}

/** Returns an upper bound for the message's bytes on the stream. */
function roomFor({ event, record_key }: OutboxRow, body: Uint8Array | string): number {
  // A header has up to nine bytes for a character, and the event's name is in the subject and in two headers.
  return Buffer.byteLength(body) + 1024 + 9 * (3 * event.length + (record_key?.length ?? 0));
}

/** Returns how many rows may be in progress at once without exceeding `maxBytes` together; at least one. */
function widthFor(rows: readonly OutboxRow[], maxBytes: number): number {
  const longest = rows.reduce((length, { body }) => Math.max(length, body.length), 0);
  return Math.min(maxInFlight, Math.max(1, Math.floor(maxBytes / (3 * longest + 1024))));
}

/** Processes rows in order, many at once; rows with the same key one by one, until `work` returns false for one. */
async function inLanes(
  rows: readonly OutboxRow[],
  width: number,
  work: (row: OutboxRow) => Promise<boolean>,
): Promise<void> {
  const lanes = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const key = row.record_key ?? `event ${row.id}`;
    const lane = lanes.get(key);
    if (lane) lane.push(row);
    else lanes.set(key, [row]);
  }
  const waiting = lanes.values();
  async function worker(): Promise<void> {
    for (const lane of waiting) {
      for (const row of lane) if (!(await work(row))) break;
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, lanes.size) }, worker));
}
