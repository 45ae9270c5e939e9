import type { Change, RecordbusError, Subscription } from '@recordbus/client';
import { client } from '../api/client.ts';
import type { AnyRecord } from '../api/records.ts';

/** More new records than these are not told apart. */
const mostFresh = 1000;

/** What has happened to the rows of a grid since they were read. Rows stay in their places; a grid marks them. */
export class LiveRows {
  /** The present state of rows that changed. */
  changed = $state.raw<ReadonlyMap<string, AnyRecord>>(new Map());
  /** The ids of rows that were deleted, or no longer fulfil the filter. */
  gone = $state.raw<ReadonlySet<string>>(new Set());
  /** The ids of records that came, shown or not. */
  fresh = $state.raw<ReadonlySet<string>>(new Set());
  /** Whether changes may have been missed. */
  isOld = $state(false);
  isFollowing = $state(false);

  /** Begins again: the rows were just read. */
  clear(): void {
    this.changed = new Map();
    this.gone = new Set();
    this.fresh = new Set();
    this.isOld = false;
  }

  /** Follows a collection until the signal ends it. A filter that cannot be followed leaves the rows as they are. */
  async follow(collection: string, filter: string, signal: AbortSignal): Promise<void> {
    try {
      const subscription: Subscription = await client.from(collection).subscribe({
        filter: filter || undefined,
        signal,
        onMessage: (message: Change<AnyRecord>) => this.#take(message),
        onError: (_error: RecordbusError) => {
          this.isFollowing = false;
        },
      } as never);
      if (signal.aborted) subscription.close();
      else this.isFollowing = true;
    } catch {
      this.isFollowing = false;
    }
  }

  #take(message: Change<AnyRecord>): void {
    if (message.type === 'resync') this.isOld = true;
    else if ('id' in message) this.#remove(message.id);
    else if (message.type === 'update') this.changed = new Map(this.changed).set(message.record.id, message.record);
    else this.#add(message.record);
  }

  #add(record: AnyRecord): void {
    this.changed = new Map(this.changed).set(record.id, record);
    this.gone = without(this.gone, record.id);
    if (this.fresh.size < mostFresh) this.fresh = new Set(this.fresh).add(record.id);
  }

  #remove(id: string): void {
    this.gone = new Set(this.gone).add(id);
    this.fresh = without(this.fresh, id);
  }
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  if (!ids.has(id)) return ids;
  const left = new Set(ids);
  left.delete(id);
  return left;
}
