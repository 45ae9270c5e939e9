import type { Bus } from '../bus.ts';
import type { EventStream } from '../event-stream.ts';
import { measureOldest, readBytesAtLeast } from './read-bytes.ts';
import type { RoomGrants } from './room-grants.ts';
import { readStream, type StreamReading } from './stream-reading.ts';

/**
 * How much the relay may publish before the server drops a message that a reader still needs. The server does not
 * prevent that: it drops the oldest messages when a full stream stores new ones. So the relay looks up the readers'
 * positions, publishes less than the bytes that they have read, and looks again.
 */
export interface StreamRoom {
  /** Reads the stream and its readers. Throws when the bus does not answer; then there is no room. */
  look(): Promise<StreamReading>;
  /** Takes room for a message. Returns false when it could drop a message that a reader still needs. */
  take(bytes: number): boolean;
  /** Whether so little room is left that a look is due. */
  readonly isLow: boolean;
  /** Whether the last look found no room for the largest message. */
  readonly isFull: boolean;
  /** The largest message for the stream; larger ones are published as references. */
  readonly maxMessageBytes: number;
  /** How many bytes may be in flight at once, except for a single message. */
  readonly maxUnderWayBytes: number;
}

interface StreamRoomOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  /** The consumers that an admin named in `events.kept_for`. */
  readonly keptFor: () => readonly string[];
  readonly grants: RoomGrants;
}

const mebibyte = 1024 ** 2;
/** The share of the stream's size that all relays together may publish between two checks. */
const maxShare = 1 / 4;

/**
 * Returns how many bytes of a stream with this size stay free of unread messages: the reserve for messages in flight
 * from relays that lost the lease. It suffices for four relays, since `maxUnderWayBytes` limits each.
 */
export const reserveOf = (maxBytes: number): number => Math.min(maxBytes / 16, 16 * mebibyte);

const maxMessageOf = (maxBytes: number): number => maxBytes / 16;

/**
 * With less room than this, a check is due. If the counts still show less, the check measures until it finds this much.
 */
const lowOf = (maxBytes: number): number => Math.min(maxBytes / 64, 16 * mebibyte);

/** Creates this process's room; it is empty before the first look. */
export function createStreamRoom({ bus, stream, keptFor, grants }: StreamRoomOptions): StreamRoom {
  let maxBytes = 0;
  let leftBytes = 0;
  let fullAtLook = false;

  async function measureRoom(): Promise<{ readonly reading: StreamReading; readonly bytes: number }> {
    const reading = await readStream(bus, stream, keptFor());
    maxBytes = reading.maxBytes;
    const bytes = roomOf(reading, readBytesAtLeast(reading, bus.maxPayloadBytes()));
    if (bytes >= lowOf(maxBytes) || reading.unreadFrom <= reading.firstSequence) return { reading, bytes };
    const measured = await measureOldest(bus, stream, reading, reserveOf(maxBytes) + 2 * lowOf(maxBytes));
    return { reading, bytes: Math.max(bytes, roomOf(reading, measured)) };
  }

  return {
    async look() {
      leftBytes = 0;
      const { reading, bytes } = await grants.replace(async (others) => {
        const measured = await measureRoom();
        // The bytes that others may still publish are free on the stream. Each relay leaves room for the rest.
        const most = Math.min(measured.bytes, maxBytes * maxShare) / others.relays;
        const bytes = Math.min(most, measured.bytes - others.grantedBytes);
        return { bytes, result: { ...measured, bytes } };
      });
      leftBytes = Math.max(0, Math.floor(bytes));
      fullAtLook = leftBytes < Math.min(maxMessageOf(maxBytes), bus.maxPayloadBytes());
      return reading;
    },
    take(bytes) {
      const fits = bytes <= leftBytes;
      // A message that does not fit makes a look due.
      leftBytes = fits ? leftBytes - bytes : 0;
      return fits;
    },
    get isFull() {
      return fullAtLook;
    },
    get isLow() {
      return leftBytes < lowOf(maxBytes);
    },
    get maxMessageBytes() {
      return maxMessageOf(maxBytes);
    },
    get maxUnderWayBytes() {
      return reserveOf(maxBytes) / 4;
    },
  };
}

/**
 * Returns the bytes that can be published without dropping unread messages, when at least `readBytes` have been read.
 */
function roomOf({ maxBytes, bytes }: Pick<StreamReading, 'maxBytes' | 'bytes'>, readBytes: number): number {
  const freeBytes = Math.max(0, maxBytes - bytes);
  return freeBytes + readBytes - reserveOf(maxBytes);
}
