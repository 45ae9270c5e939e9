import { abortedBy, invalidArgument, type RecordbusError } from '../error.ts';
import { type AnyReadOptions, readQuery } from '../records/query.ts';
import type { Transport } from '../transport.ts';
import { etagOf, remember } from '../versions.ts';
import { hubOf } from './hub.ts';
import { createMergedList } from './merged-list.ts';
import { isSortOfMembers } from './order.ts';
import { createRecount } from './recount.ts';
import type { StreamEvent } from './stream.ts';

interface AnyLiveOptions extends AnyReadOptions {
  readonly limit?: number | undefined;
  readonly record?: string | undefined;
  readonly onMessage?: (message: never) => void;
  readonly onError?: (error: RecordbusError) => void;
}

/** How many records a snapshot may have. */
const maxRecords = 1000;

/** The subscription without `snapshot`, which lists and subscriptions have in common. */
function requestOf(collection: string, options: AnyLiveOptions): Record<string, unknown> {
  const { filter, expand, fields } = readQuery({ ...options, query: undefined });
  const members = {
    filter,
    expand: expand && String(expand),
    fields: fields && String(fields),
    record: options.record,
  };
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return { collection, ...Object.fromEntries(given) };
}

/** A list needs the members by which it is sorted, and each version's second. */
function withSorted({ fields, sort }: AnyLiveOptions): readonly string[] | undefined {
  const terms = typeof sort === 'string' ? sort.split(',') : (sort ?? ['created']);
  return fields && [...fields, 'updated', ...terms.map((term) => term.trim().replace('-', ''))];
}

/** Opens a list that follows its collection (realtime §4). Resolves when the snapshot has arrived. */
export function openLive(transport: Transport, collection: string, options: AnyLiveOptions): Promise<unknown> {
  const { sort, limit = maxRecords, signal } = options;
  if (!isSortOfMembers(sort)) throw invalidArgument("A live list can only be sorted by its records' members.");
  if (limit < 1 || limit > maxRecords) throw invalidArgument(`A live list has 1 to ${maxRecords} records.`);
  const merged = createMergedList(sort, limit);
  const listeners = new Set<(records: readonly unknown[]) => void>();
  const snapshot = { perPage: limit, ...(sort !== undefined && { sort: String(sort) }) };
  const request = { ...requestOf(collection, { ...options, fields: withSorted(options) }), snapshot };
  let [error, stop]: [RecordbusError | undefined, () => void] = [undefined, () => {}];

  return new Promise((resolve, reject) => {
    const recount = createRecount(follow);
    const list = {
      get records() {
        return merged.records;
      },
      get total() {
        return merged.total;
      },
      get error() {
        return error;
      },
      onChange(listener: (records: readonly unknown[]) => void) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      close: end,
    };
    function end(): void {
      recount.stop();
      stop();
    }
    function tell(): void {
      for (const listener of listeners) listener(merged.records);
    }
    function follow(): void {
      stop();
      stop = hubOf(transport, options.query).follow({
        request,
        hasBegun: false,
        onMessage(type, data) {
          const before = merged.records;
          const needed = merged.apply(type, data);
          if (type === 'snapshot') resolve(list);
          if (merged.records !== before) tell();
          // After a change in rights the server sends no snapshot (realtime §5.3).
          if (needed === 'records' || (type === 'resync' && data.reason === 'access')) follow();
          else if (needed === 'total') recount.soon();
        },
        onError(refusal) {
          recount.stop();
          error = refusal;
          reject(refusal);
          tell();
        },
      });
    }
    follow();
    endWith(signal, end, reject);
  });
}

/** Follows a collection's or record's changes. Resolves when every change from then on will be reported. */
export const openSubscription = (transport: Transport, collection: string, options: AnyLiveOptions): Promise<unknown> =>
  open(transport, requestOf(collection, options), options);

/** Follows a channel, and reports who is present (realtime §7). */
export const openChannel = (
  transport: Transport,
  channel: string,
  { presence, ...options }: AnyLiveOptions & { readonly presence?: unknown },
): Promise<unknown> => open(transport, { channel, ...(presence !== undefined && { presence }) }, options);

function open(
  transport: Transport,
  request: Readonly<Record<string, unknown>>,
  { onMessage, onError, query, signal }: AnyLiveOptions,
): Promise<unknown> {
  const deliver = onMessage as ((message: object) => void) | undefined;
  return new Promise((resolve, reject) => {
    const stop = hubOf(transport, query).follow({
      request,
      hasBegun: false,
      onMessage(type, data) {
        if (type === 'ready') resolve({ close: stop });
        else deliver?.(messageOf(type, data));
      },
      onError(error) {
        reject(error);
        onError?.(error);
      },
    });
    endWith(signal, stop, reject);
  });
}

/** Ends a follower when its signal aborts. A follower that has not begun is refused. */
function endWith(signal: AbortSignal | undefined, stop: () => void, reject: (error: RecordbusError) => void): void {
  const end = (): void => {
    stop();
    if (signal) reject(abortedBy(signal));
  };
  if (signal?.aborted) end();
  else signal?.addEventListener('abort', end, { once: true });
}

/** A message without the members for the connection. Its record has its version, like a record that was read. */
function messageOf(type: string, { sub: _sub, cursor: _cursor, ...data }: StreamEvent['data']): object {
  if (typeof data.version === 'string' && data.record) remember(data.record, etagOf(data.version));
  return { type, ...data };
}
