import type { Query } from '@recordbus/database';
import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import { type Collection, quoteIdentifier, retainedColumn, tableOf } from '@recordbus/schema';
import { isFilled } from './emptied-fields.ts';

/** Records whose time is over. */
export interface DueRecords {
  readonly ids: readonly string[];
  /** Up to which id the collection was read. */
  readonly position: string;
  /** Whether that is its end. */
  readonly isEnd: boolean;
}

interface DueValues {
  readonly days: number;
}

/** How many rows one statement reads. The retention's field may have no index. */
const readAtOnce = 10_000;

/**
 * SQL: whether a row's time is over (privacy §3.1), and for `redact`, whether it still has a value. Undefined for a collection
 * that keeps its records.
 */
export function isDue(
  collection: Collection,
  row: string,
  parameters: Pick<NamedParameters<DueValues>, 'named'>,
): string | undefined {
  const { retain } = collection;
  const column = retain && retainedColumn(collection, retain);
  if (column === undefined) return undefined;
  const days = parameters.named('days', 'bigint');
  const isOver = `${row}.${quoteIdentifier(column)} <= extract(epoch from now())::bigint - ${days} * 86400`;
  return retain?.action === 'redact' ? `${isOver} and ${isFilled(collection, row)}` : isOver;
}

/** Finds the next due records after an id, in id order, at most `limit`. Reads a bounded part of the collection. */
export async function findDue(query: Query, collection: Collection, after: string, limit: number): Promise<DueRecords> {
  const parameters = createNamedParameters<DueValues & { readonly after: string; readonly limit: number }>();
  const condition = isDue(collection, 's', parameters);
  if (condition === undefined || !collection.retain) return { ids: [], position: after, isEnd: true };
  const text = `with s as materialized (
      select * from ${tableOf(collection)} t where t.id > ${parameters.named('after', 'text')} order by t.id limit ${readAtOnce}
    ), due as materialized (
      select s.id from s where ${condition} order by s.id limit ${parameters.named('limit', 'integer')}
    )
    select array(select id from due order by id) as ids, (select max(id) from s) as last, (select count(*) from s) as read`;
  const { days } = collection.retain;
  const [row] = await query<{ ids: string[]; last: string | null; read: number }>({
    text,
    values: parameters.valuesFrom({ days, after, limit }),
  });
  const { ids = [], last = null, read = 0 } = row ?? {};
  // With as many as were asked for, there may be more in the part.
  const position = (ids.length === limit ? ids.at(-1) : last) ?? after;
  return { ids, position, isEnd: ids.length < limit && read < readAtOnce };
}

/** Locks those of the records that are still due, in id order. */
export async function lockDue(query: Query, collection: Collection, ids: readonly string[]): Promise<string[]> {
  const parameters = createNamedParameters<DueValues & { readonly ids: readonly string[] }>();
  const condition = isDue(collection, 't', parameters);
  if (condition === undefined || !collection.retain) return [];
  const text = `select t.id from ${tableOf(collection)} t where t.id = any(${parameters.named('ids', 'text[]')}) and ${condition}
    order by t.id for update`;
  const rows = await query<{ id: string }>({
    text,
    values: parameters.valuesFrom({ days: collection.retain.days, ids }),
  });
  return rows.map(({ id }) => id);
}
