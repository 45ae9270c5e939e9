import type { Change, RecordbusError, Subscription } from '@recordbus/client';
import { client } from '../api/client.ts';
import type { AnyRecord } from '../api/records.ts';

/** Counting new records stops here. */
export const maxFresh = 1000;

/** Changes within this time are shown together. A thousand changes a second must not redraw the grid a thousand times. */
const togetherMs = 100;

/** Tracks changes to a grid's rows since they were read. Rows keep their positions, and the grid marks them. */
export class LiveRows {
  /** The changed rows' current values. */
  changed = $state.raw<ReadonlyMap<string, AnyRecord>>(new Map());
  /** The rows that were deleted or no longer match the filter, by id. */
  gone = $state.raw<ReadonlySet<string>>(new Set());
  /** The new records' ids. */
  fresh = $state.raw<ReadonlySet<string>>(new Set());
  /** Whether changes may have been missed. */
  isOld = $state(false);
  isFollowing = $state(false);
  /** The ids on the page. For other records only new ids are kept, so that memory does not grow with changes. */
  #page: ReadonlySet<string> = new Set();
  #waiting: Change<AnyRecord>[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Restarts with the rows on a page that was just read. */
  begin(page: readonly AnyRecord[]): void {
    this.#page = new Set(page.map(({ id }) => id));
    this.changed = new Map();
    this.gone = new Set();
    this.fresh = new Set();
    this.isOld = false;
  }

  /** Shows a record on the page as it is now. */
  put(record: AnyRecord): void {
    this.changed = new Map(this.changed).set(record.id, record);
  }

  /**
   * Follows a collection, with some related records, until the signal aborts. If live changes do not support the filter,
   * the rows do not change.
   */
  async follow(collection: string, filter: string, expand: readonly string[], signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => {
      clearTimeout(this.#timer);
      [this.#timer, this.#waiting] = [undefined, []];
    });
    try {
      const subscription: Subscription = await client.from(collection).subscribe({
        filter: filter || undefined,
        expand,
        signal,
        onMessage: (message: Change<AnyRecord>) => {
          if (signal.aborted) return;
          this.#waiting.push(message);
          this.#timer ??= setTimeout(() => this.#take(), togetherMs);
        },
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

  #take(): void {
    const [messages, changed] = [this.#waiting, new Map(this.changed)];
    const [gone, fresh] = [new Set(this.gone), new Set(this.fresh)];
    [this.#waiting, this.#timer] = [[], undefined];
    for (const message of messages) {
      if (message.type === 'resync') this.isOld = true;
      else if ('id' in message) {
        fresh.delete(message.id);
        if (this.#page.has(message.id)) gone.add(message.id);
      } else {
        const { record } = message;
        gone.delete(record.id);
        if (this.#page.has(record.id)) changed.set(record.id, record);
        else if (message.type !== 'update' && fresh.size < maxFresh) fresh.add(record.id);
      }
    }
    [this.changed, this.gone, this.fresh] = [changed, gone, fresh];
  }
}
