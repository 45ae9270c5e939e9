import { createNamedParameters, type NamedParameters, type RequestValues } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { selectChange, selectRecord } from './changed-sql.ts';
import { type Cte, withCtes } from './cte.ts';
import { insertDeletedVersions } from './deleted-version-sql.ts';
import { insertCount, insertEvents, type Verb } from './event-sql.ts';
import { insertHistory } from './history-sql.ts';
import type { Origin, OriginParameters } from './origin.ts';
import { type ChangedRows, deleteRows, type GoneRows, insertRows, type NewRows, updateRows } from './write-rows.ts';

/** Writes one collection's rows, one or many. A statement may have several writes. */
type WritePart = WriteOptions &
  (
    | { readonly verb: 'create'; readonly rows: NewRows }
    | { readonly verb: 'update'; readonly rows: ChangedRows }
    | { readonly verb: 'delete'; readonly rows: GoneRows }
  );

interface WriteOptions {
  readonly collection: Collection;
  /** Keeps apart the CTEs that belong to different writes in one statement. A single write needs none. */
  readonly suffix?: string;
  /**
   * Name of a CTE with a row for each written row: its `id`, its `place` in the events' order, and `batch`, its place
   * in the batch (JSON text). By default all rows have the statement's place.
   */
  readonly places?: string;
  /** Whether the write has no events, only their count for list totals. `shown` is missing then. */
  readonly isSilent?: boolean;
}

/** A statement that writes, and its values for each run. */
export interface WriteStatement<Given extends object> {
  readonly text: string;
  /** The values in the text's order. Throws when one is undefined. */
  valuesFrom(given: Given, request?: RequestValues): unknown[];
}

interface WriteParts {
  /** CTEs that the writes read. */
  readonly before?: readonly (Cte | undefined)[];
  readonly writes: readonly WritePart[];
  /** CTEs that write more, from the rows in `new`. */
  readonly after?: readonly (Cte | undefined)[];
  /** The final select. It may read every CTE, including `new` (`gone` for a delete) and `shown` (see `answerOf`). */
  readonly answer: string;
}

/**
 * Composes a write's statement: rows, their events and their history rows commit together. All parts, rules included,
 * add their values to `parameters` by name, so no part counts positions.
 */
export function composeWrite<Given extends Origin>(
  compose: (parameters: NamedParameters<Given>) => WriteParts,
): WriteStatement<Given> {
  const parameters = createNamedParameters<Given>();
  const { before = [], writes, after = [], answer } = compose(parameters);
  const ctes = [...before, ...writes.flatMap((write) => ctesOf(parameters, write)), ...after];
  return { text: `${withCtes(ctes)}\n${answer}`, valuesFrom: parameters.valuesFrom };
}

/** The CTE `old`: the locked row with an id (SQL), as it is before the write. */
export const lockedRow = (collection: Collection, id: string): Cte => lockedWhere(collection, `t.id = ${id}`);

/** The CTE `old`: the locked row `t` that satisfies a condition (SQL), at most one. */
export const lockedWhere = (collection: Collection, condition: string): Cte => ({
  name: 'old',
  sql: `select t.* from ${tableOf(collection)} t where ${condition} for update`,
  isMaterialized: true,
});

/**
 * CTEs for the written rows, their JSON, their events, their history rows if the collection keeps them, and the
 * versions that deleted rows had.
 */
function ctesOf(parameters: OriginParameters, part: WritePart): readonly (Cte | undefined)[] {
  const { collection, verb, suffix = '', places, isSilent = false } = part;
  const { before, sql } = writtenRows(part);
  const written = `${verb === 'delete' ? 'gone' : 'new'}${suffix}`;
  const shown = `shown${suffix}`;
  const history = insertHistory(parameters, { collection, verb, source: written });
  const events = isSilent
    ? [{ name: `event${suffix}`, sql: insertCount({ collection, verb, source: written }) }]
    : [
        { name: shown, sql: selectShown(collection, verb, written), isMaterialized: true },
        { name: `event${suffix}`, sql: insertEvents(parameters, { collection, verb, ...eventsOf(shown, places) }) },
      ];
  return [
    ...before,
    { name: written, sql },
    ...events,
    ...(history === undefined ? [] : [{ name: `history${suffix}`, sql: history }]),
    ...(verb === 'delete' ? [{ name: `ended${suffix}`, sql: insertDeletedVersions(collection, written) }] : []),
  ];
}

/** The INSERT, UPDATE or DELETE, which returns whole rows, after the CTEs that it reads. */
function writtenRows(part: WritePart): ReturnType<typeof insertRows> {
  const { collection } = part;
  switch (part.verb) {
    case 'create':
      return insertRows(collection, part.rows);
    case 'update':
      return { before: [], sql: updateRows(collection, part.rows) };
    case 'delete':
      return { before: [], sql: deleteRows(collection, part.rows) };
  }
}

/** The rows that become events, ordered by place. */
const eventsOf = (shown: string, places: string | undefined): { source: string; batch?: string } =>
  places === undefined
    ? { source: shown }
    : {
        source: `(select w.*, p.batch from ${shown} w join ${places} p on p.id = w.id order by p.place)`,
        batch: 'e.batch',
      };

const selectShown = (collection: Collection, verb: Verb, written: string): string =>
  verb === 'update'
    ? selectChange(collection, written, 'old')
    : selectRecord(collection, written, { isDeleted: verb === 'delete' });
