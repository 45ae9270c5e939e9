import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import type { Bus } from '../bus.ts';
import { referenceTo } from '../envelope-text.ts';
import {
  keepLargeEvent,
  listUnpublished,
  markPublished,
  noteFailure,
  type OutboxRow,
  republishAfter,
} from './outbox-store.ts';
import { eventHeaders, isBusFailure, publishEvent } from './publish-event.ts';

export interface RoundResult {
  /** Are there probably more events than this round could take? */
  readonly more: boolean;
  /** Highest sequence number that the stream gave; 0 when nothing was published. */
  readonly lastSequence: number;
  /** Why nothing can be published now; absent when the bus is fine. */
  readonly busFailure?: unknown;
}

export interface RoundOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly subjectPrefix: string;
  /** Highest sequence number that the stream is known to have given. */
  readonly knownSequence: number;
  /** Asked before every event: does this process still hold the lease, on the connection it looked at the stream on? */
  readonly mayPublish: () => boolean;
}

const roundSize = 500;
const maxInFlight = 64;
/** Failures of an event's own after which it is parked. */
const failureLimit = 5;
/** What the protocol puts around headers and body, generously. */
const protocolBytes = 64;

/**
 * Publishes the oldest waiting events, up to 64 at a time, those of one record one after another: the next only when
 * the stream has the one before. An event that fails stays, and those of its record behind it, for another round.
 */
export async function publishRound(options: RoundOptions): Promise<RoundResult> {
  const { database, bus, log, knownSequence } = options;
  const rows = await listUnpublished(database.query, roundSize);
  const done: { ids: number[]; sequences: number[] } = { ids: [], sequences: [] };
  let busFailure: unknown;
  /** Lowest number that the stream gave although it had given it before: it is not the stream it was. */
  let wentBackTo = Number.POSITIVE_INFINITY;

  /** Tells whether the events of the same record that come after may go. */
  async function publish(row: OutboxRow): Promise<boolean> {
    if (busFailure || !options.mayPublish()) return false;
    try {
      const { seq, duplicate } = await publishEvent(bus, options.subjectPrefix, row, await bodyFor(options, row));
      done.ids.push(row.id);
      done.sequences.push(seq);
      if (!duplicate && seq <= knownSequence) wentBackTo = Math.min(wentBackTo, seq);
      return true;
    } catch (error) {
      if (isBusFailure(error)) {
        busFailure ??= error;
        return false;
      }
      const parked = await noteFailure(database.query, row.id, String(error), failureLimit);
      if (parked) log.error({ err: error, event_id: row.event_id, event: row.event }, 'an event was parked');
      return parked;
    }
  }

  await inLanes(rows, publish);
  if (wentBackTo <= knownSequence) {
    const lost = await republishAfter(database.query, wentBackTo - 1);
    log.warn({ events: lost }, 'the stream was replaced by another, the events it lost are published again');
  }
  if (done.ids.length > 0) await markPublished(database.query, done.ids, done.sequences);
  return {
    more: rows.length === roundSize && done.ids.length > 0,
    lastSequence: Math.max(0, ...done.sequences),
    ...(busFailure !== undefined && { busFailure }),
  };
}

/** The envelope, or a reference to it when the message would be larger than the server takes. */
async function bodyFor({ database, bus, log }: RoundOptions, row: OutboxRow): Promise<Uint8Array | string> {
  const limitBytes = bus.maxPayloadBytes() - protocolBytes;
  // No character takes more than three bytes for each UTF-16 unit, so most bodies need no closer look.
  if (row.body.length * 3 + 2048 < limitBytes) return row.body;
  const body = Buffer.from(row.body);
  if (body.length + eventHeaders(row).toString().length < limitBytes) return body;
  const reference = referenceTo(row.body);
  await keepLargeEvent(database.query, row);
  log.info({ event_id: row.event_id, event: row.event, bytes: body.length }, 'an event goes as a reference');
  return reference;
}

/** Works through rows in their order, many at once, but rows with the same key one by one until one says stop. */
async function inLanes(rows: readonly OutboxRow[], work: (row: OutboxRow) => Promise<boolean>): Promise<void> {
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
  await Promise.all(Array.from({ length: Math.min(maxInFlight, lanes.size) }, worker));
}
