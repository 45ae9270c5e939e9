import type { Job } from '../admin/jobs.ts';
import { unexpectedAnswer } from '../error.ts';
import { type AnyFilter, filterText } from '../filter/build.ts';
import type { LiveList, LiveOptions, SubscribeOptions, Subscription } from '../live/types.ts';
import type { CallOptions, Reply, Transport } from '../transport.ts';
import type { ExpandPath } from '../types/expand.ts';
import type { Row } from '../types/fields.ts';
import type { CreateOf, FileFieldOf, RecordOf, UpdateOf } from '../types/schema.ts';
import { apiPath, mergeQueries } from '../url.ts';
import { fileNames, type StoredFile, storedFile } from './files.ts';
import type {
  AggregateOptions,
  ChangeOptions,
  HistoryRow,
  ListOptions,
  Page,
  PageOptions,
  RestorePoint,
  SelectOptions,
  ShapeCheck,
  ShapeOptions,
  WriteOptions,
} from './options.ts';
import { type AnyReadOptions, readBody, readQuery } from './query.ts';
import type { Found, SearchFieldName, SearchOptions, SearchPage } from './search.ts';
import { type ExportOptions, exportRows, type ImportOptions, importRows } from './transfer.ts';
import { createWrites, idOf } from './write.ts';

/** A record that was read, or an id. */
export type Subject = string | { readonly id: string };

/** How an upsert finds its record: by its id, or by unique fields' values. */
export type UpsertTarget<R> = string | { readonly on: readonly (keyof R & string)[] };

/** One collection's records. */
export interface Collection<S, C extends keyof S> {
  readonly name: C;
  /**
   * Reads a page of the records.
   *
   * @example
   * const { data, totalItems } = await client.from('books').list({
   *   filter: (book) => book.and(book.stars.gte(3), book.writer.name.eq('Ada')),
   *   sort: '-stars',
   *   expand: ['writer.house'],
   * });
   */
  list<const P extends string = never, const F extends string = never>(
    options?: ListOptions<S, C> & ShapeOptions<P, F> & ShapeCheck<S, C, P, F>,
  ): Promise<Page<Row<S, C, P, F>>>;
  /**
   * Reads a page of the records that have a text's words, the best ones first. The collection needs a search index.
   *
   * @example
   * const { data, facets } = await client.from('books').search('sea -museum', { highlight: ['title'], facets: ['kind'] });
   */
  search<const P extends string = never, const F extends string = never>(
    text: string,
    options?: SearchOptions<S, C> &
      ShapeOptions<P, F> & {
        readonly expand?: readonly ExpandPath<S, C, P>[] | undefined;
        readonly fields?: readonly (F & SearchFieldName<S, C>)[] | undefined;
      },
  ): Promise<SearchPage<Found<S, C, P, F>, keyof RecordOf<S, C> & string>>;
  /** Reads a list's first record; undefined when there is none. */
  first<const P extends string = never, const F extends string = never>(
    options?: SelectOptions<S, C> & ShapeOptions<P, F> & ShapeCheck<S, C, P, F>,
  ): Promise<Row<S, C, P, F> | undefined>;
  /**
   * Reads all records of a list, page by page. While others write, no record comes twice and none is left out.
   *
   * @example
   * for await (const book of client.from('books').all({ sort: 'title' })) console.log(book.title);
   */
  all<const P extends string = never, const F extends string = never>(
    options?: SelectOptions<S, C> & {
      /** How many records a page has; 200 by default. */
      readonly perPage?: number | undefined;
    } & ShapeOptions<P, F> &
      ShapeCheck<S, C, P, F>,
  ): AsyncGenerator<Row<S, C, P, F>, void, undefined>;
  /** Reads a record. Throws an error with the status 404 if it does not exist. */
  get<const P extends string = never, const F extends string = never>(
    id: string,
    options?: ShapeOptions<P, F> & ShapeCheck<S, C, P, F>,
  ): Promise<Row<S, C, P, F>>;
  /**
   * Opens a list that follows the collection: first the current records, then each change, even after a break. Resolves
   * when the current records have arrived. Sorts by members of the records, and texts by code points.
   *
   * @example
   * const list = await client.from('tasks').live({ filter: (task) => task.done.ne(true), sort: 'title' });
   * list.onChange((tasks) => render(tasks));
   */
  live<const P extends string = never, const F extends string = never>(
    options?: LiveOptions<S, C, P, F> & ShapeCheck<S, C, P, F>,
  ): Promise<LiveList<Row<S, C, P, F>>>;
  /**
   * Follows changes one by one. Reports every change after the promise has resolved, even after a break. A change may
   * come twice, with the same version.
   */
  subscribe<const P extends string = never, const F extends string = never>(
    options: SubscribeOptions<S, C, P, F, Row<S, C, P, F>> & ShapeCheck<S, C, P, F>,
  ): Promise<Subscription>;
  /** The file in a record's field, or the first one; undefined without one. */
  file(record: { readonly id: string }, field: FileFieldOf<S, C>): StoredFile | undefined;
  /** All files in a record's field. */
  files(record: { readonly id: string }, field: FileFieldOf<S, C>): readonly StoredFile[];
  /** Creates a record. Values may be files. */
  create(values: CreateOf<S, C>, options?: WriteOptions): Promise<RecordOf<S, C>>;
  /**
   * Changes fields of a record. With a record that was read, throws an error for which `isConflict` is true if others
   * have written it since then. With an id, writes whatever the current version is.
   *
   * @example
   * await client.from('books').update(book, { stars: 5 });
   * await client.from('books').update(book.id, { likes: { $add: 1 } });
   */
  update(subject: Subject, changes: UpdateOf<S, C>, options?: ChangeOptions): Promise<RecordOf<S, C>>;
  /**
   * Creates a record or changes the existing one.
   *
   * @example
   * await client.from('books').upsert({ on: ['isbn'] }, { isbn: '978…', title: 'Dune' });
   */
  upsert(
    target: UpsertTarget<RecordOf<S, C>>,
    values: CreateOf<S, C> | UpdateOf<S, C>,
    options?: ChangeOptions & {
      /** Only creates: throws an error with the status 412 if the record exists. Only for an id. */
      readonly onlyCreate?: boolean | undefined;
    },
  ): Promise<RecordOf<S, C>>;
  /** Deletes a record. With a record that was read, deletes only that version. */
  delete(subject: Subject, options?: ChangeOptions): Promise<void>;
  /** Reads the versions of a record, newest first. */
  history(subject: Subject, options?: PageOptions & CallOptions): Promise<Page<HistoryRow<RecordOf<S, C>>>>;
  /** Restores a version of a record, for admins. With a record that was read, only if it has not changed since. */
  restore(subject: Subject, point: RestorePoint, options?: ChangeOptions): Promise<RecordOf<S, C>>;
  /**
   * Groups records and computes values of the groups.
   *
   * @example
   * await client.from('sales').aggregate({ group: ['month(sold)'], sum: ['price'], count: true });
   */
  aggregate<R = Readonly<Record<string, unknown>>>(options: AggregateOptions<S, C>): Promise<Page<R>>;
  /**
   * Imports rows, for admins. The job runs after the answer: `client.admin.jobs.get(job.id)` returns its progress.
   *
   * @example
   * const job = await client.from('books').import(file, { format: 'csv', mode: 'upsert', on: ['isbn'] });
   * await client.from('books').import(undefined, { format: 'csv', upload: job.id });
   */
  import(rows: string | Blob | undefined, options: ImportOptions): Promise<Job>;
  /** Streams all a list's records as CSV or JSON, as of one moment. */
  export(options?: ExportOptions<S, C>): Promise<Response>;
}

const defaultPageSize = 200;

/** Loads the live-change code when it is first used. */
const loadLive = () => import('../live/live.ts');

/** Returns a collection's records. */
export function createCollection(transport: Transport, name: string): Collection<never, never> {
  const at = (...segments: string[]): string => apiPath('records', name, ...segments);
  const readPage = async (options: AnyReadOptions & { cursor?: string }): Promise<AnyPage> => {
    const query = mergeQueries(readQuery(options), { cursor: options.cursor });
    return pageOf(await transport.send({ method: 'GET', path: at(), query, signal: options.signal }));
  };
  const readByBody = async ({ query, signal, ...options }: AnyReadOptions): Promise<AnyPage> =>
    pageOf(await transport.send({ method: 'POST', path: at('list'), values: readBody(options), query, signal }));
  const writes = createWrites(transport, name);
  const files = (record: { readonly id: string }, field: string): readonly StoredFile[] =>
    fileNames(record, field).map((file) => storedFile(transport, name, record.id, file));
  const collection = {
    name,
    list: async (options: AnyReadOptions = {}) => (needsBody(options) ? readByBody(options) : readPage(options)),
    search: (text: string, options: AnyReadOptions = {}) => readPage({ ...options, search: text }),
    first: async (options: AnyReadOptions = {}) =>
      (await readPage({ ...options, page: 1, perPage: 1, skipTotal: true })).data[0],
    async *all(options: AnyReadOptions = {}) {
      const perPage = options.perPage ?? defaultPageSize;
      for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
        const page: AnyPage = await readPage({ ...options, perPage, cursor });
        yield* page.data;
        cursor = page.next;
      }
    },
    get: async (id: string, options: AnyReadOptions = {}) =>
      writes.record({ method: 'GET', path: at(id), query: readQuery(options), signal: options.signal }),
    ...writes.methods,
    live: async (options: AnyReadOptions = {}) => (await loadLive()).openLive(transport, name, options),
    subscribe: async (options: AnyReadOptions) => (await loadLive()).openSubscription(transport, name, options),
    import: async (rows: string | Blob | undefined, options: ImportOptions) =>
      importRows(transport, name, rows, options),
    export: async (options: AnyReadOptions = {}) => exportRows(transport, name, options),
    files,
    file: (record: { readonly id: string }, field: string) => files(record, field)[0],
    async history(subject: Subject, { page, perPage, query, signal }: PageOptions & CallOptions = {}) {
      const path = at(idOf(subject), 'history');
      return transport.data({ method: 'GET', path, query: mergeQueries(query, { page, perPage }), signal });
    },
    async aggregate({ filter, having, timeZone, query: more, signal, ...options }: AnyAggregate = {}) {
      const own = { ...options, filter: filterText(filter), having: having && String(having), tz: timeZone };
      const query = mergeQueries(more, own);
      return pageOf(await transport.send({ method: 'GET', path: at('aggregate'), query, signal }));
    },
  };
  return collection as unknown as Collection<never, never>;
}

/** A longer filter does not fit into an address everywhere. */
const longestInAddress = 2000;

const needsBody = ({ ids, filter }: AnyReadOptions): boolean =>
  ids !== undefined || (filterText(filter)?.length ?? 0) > longestInAddress;

function pageOf({ status, json }: Reply): AnyPage {
  if (!Array.isArray(Object(json).data)) throw unexpectedAnswer(status);
  return json as AnyPage;
}

interface AnyPage {
  readonly data: readonly unknown[];
  readonly next?: string | null;
}

type AnyAggregate = Omit<AggregateOptions<never, never>, 'filter'> & { readonly filter?: AnyFilter };
