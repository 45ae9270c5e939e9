import { type Bus, type EventStream, readEvents } from '@recordbus/bus';
import { LRUCache } from 'lru-cache';
import { type Change, changeOf } from './change.ts';
import { type ChangePart, partOf } from './recent-changes.ts';

/** Thrown if the stream has dropped messages that a subscription had not read. */
export class MissedChanges extends Error {}

/** Reads changes that are no longer in memory. */
export interface OlderChanges {
  /**
   * Returns the next part after a sequence number. Everything up to `end` must already be on the stream. Throws
   * MissedChanges if the stream has dropped some, and 503 if the bus does not answer.
   */
  read(after: number, end: number): Promise<ChangePart>;
  /** Forgets what it has read, because the stream was created again. */
  clear(): void;
}

/** The sequence numbers that are read at once, for all who need some. */
interface Block {
  readonly first: number;
  readonly last: number;
}

const blockSize = 256;
const maxBytes = 32 * 2 ** 20;
/** A block without changes takes memory too. */
const bytesOfBlock = 1024;

/** Creates the reader. Clients that reconnect together share its reads. */
export function createOlderChanges(bus: Bus, stream: EventStream): OlderChanges {
  const blocks = new LRUCache<string, readonly Change[]>({
    maxSize: maxBytes,
    sizeCalculation: (changes) => changes.reduce((sum, { bytes }) => sum + bytes, bytesOfBlock),
  });
  const underWay = new Map<string, Promise<readonly Change[]>>();

  async function fetchBlock({ first, last }: Block): Promise<readonly Change[]> {
    const changes: Change[] = [];
    let next = first;
    for await (const message of readEvents(bus, stream, first, last)) {
      // Single messages cannot be deleted, so a gap means that the stream now begins later.
      if (message.seq !== next) throw new MissedChanges(`the stream has no message ${next}`);
      const change = changeOf(message);
      if (change) changes.push(change);
      next += 1;
    }
    return changes;
  }

  function readBlock(block: Block): Promise<readonly Change[]> {
    const key = `${block.first}-${block.last}`;
    const known = blocks.get(key);
    if (known) return Promise.resolve(known);
    const running = underWay.get(key);
    if (running) return running;
    const started: Promise<readonly Change[]> = fetchBlock(block)
      .then((changes) => {
        // A read that began before the stream was created again belongs to its earlier life.
        if (underWay.get(key) === started) blocks.set(key, changes);
        return changes;
      })
      .finally(() => {
        if (underWay.get(key) === started) underWay.delete(key);
      });
    underWay.set(key, started);
    return started;
  }

  return {
    async read(after, end) {
      const start = after - (after % blockSize);
      const last = Math.min(start + blockSize, end);
      const changes = await readBlock({ first: start + 1, last });
      const place = changes.findIndex(({ seq }) => seq > after);
      return partOf(changes, place < 0 ? changes.length : place, last);
    },
    clear() {
      blocks.clear();
      underWay.clear();
    },
  };
}
