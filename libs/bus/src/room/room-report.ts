import type { Reader, StreamReading } from './stream-reading.ts';
import { knownPart, webhooksConsumer } from './stream-reading.ts';

/** A report on the stream for operators. */
export interface RoomReport {
  readonly reading: StreamReading;
  /** Whether nothing can be published, because the server would drop messages that a reader still needs. */
  readonly isFull: boolean;
  /** Seconds until publishing would have to wait if every reader stopped now. */
  readonly roomSec: number;
  /** Seconds until the server drops the oldest unread message because of its age; undefined when all are read. */
  readonly ageLeftSec: number | undefined;
}

const daySec = 24 * 3600;
const mebibyte = 1024 ** 2;

/** Returns what is wrong with the stream's room and what to do about it; undefined when nothing is wrong. */
export function problemOf({ reading, isFull, roomSec, ageLeftSec }: RoomReport): string | undefined {
  if (isFull) return `${sizeOf(reading)} is full and events wait in the outbox: ${holdersOf(reading)}`;
  if (ageLeftSec !== undefined && ageLeftSec < daySec)
    return `${sizeOf(reading)} drops unread events in ${hoursOf(ageLeftSec)}, when they are seven days old: ${holdersOf(knownPart(reading))}`;
  if (roomSec < daySec)
    return `${sizeOf(reading)} has room for ${hoursOf(roomSec)} of events: raise SERVICE_EVENTS_MAX_BYTES`;
  return undefined;
}

/** Describes the readers that are furthest behind. */
export function holdersOf({ readers, lastSequence }: StreamReading): string {
  const lowest = Math.min(...readers.map(({ readUpTo }) => readUpTo));
  return readers
    .filter(({ readUpTo }) => readUpTo === lowest)
    .map((reader) => why[reader.position](reader, lastSequence))
    .join('; ');
}

const whyMissing = ({ name }: Reader): string =>
  name === webhooksConsumer
    ? `the consumer ${name} does not exist (no webhooks service has run yet)`
    : `the consumer ${name} does not exist (create it, or remove its name from the setting events.kept_for)`;

const whyUnknown = ({ name }: Reader): string => `the servers that hold the consumer ${name} do not answer`;

const whyBehind = ({ name, readUpTo }: Reader, lastSequence: number): string =>
  `the consumer ${name} has acknowledged up to ${readUpTo} of ${lastSequence}`;

const why = { missing: whyMissing, unknown: whyUnknown, known: whyBehind };

const sizeOf = ({ bytes, maxBytes }: StreamReading): string =>
  `the event stream (${Math.round(bytes / mebibyte)} of ${Math.round(maxBytes / mebibyte)} MiB)`;

const hoursOf = (seconds: number): string => (seconds < 3600 ? 'less than an hour' : `${Math.floor(seconds / 3600)} h`);
