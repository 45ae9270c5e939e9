import type { Change, RecordbusError, Subscription } from '@recordbus/client';
import { client } from '../api/client.ts';
import type { AnyRecord } from '../api/records.ts';

/** More new records than these are not told apart. */
export const maxFresh = 1000;

/** Changes of this time are shown together: a thousand of them a second must not redraw a grid a thousand times. */
const togetherMs = 100;

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
  /** The rows of the page. Of other records only their coming is kept, so memory does not grow with changes. */
  #page: ReadonlySet<string> = new Set();
  #waiting: Change<AnyRecord>[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins again with the rows of a page that was just read. */
  begin(page: readonly AnyRecord[]): void {
    this.#page = new Set(page.map(({ id }) => id));
    this.changed = new Map();
    this.gone = new Set();
    this.fresh = new Set();
    this.isOld = false;
  }

  /** Follows a collection until the signal ends it. A filter that cannot be followed leaves the rows as they are. */
  async follow(collection: string, filter: string, signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => {
      clearTimeout(this.#timer);
      [this.#timer, this.#waiting] = [undefined, []];
    });
    try {
      const subscription: Subscription = await client.from(collection).subscribe({
        filter: filter || undefined,
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
