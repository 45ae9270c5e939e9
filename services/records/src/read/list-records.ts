import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import { selectList } from '../record/columns.ts';
import { perCollection } from '../sql/prepared.ts';
import { createShapeCache } from '../sql/shape-cache.ts';
import { project } from './projection.ts';
import { orderBy } from './sort.ts';
import { carryOnTotal, countRecords, findKnownTotal, keepTotal, type Total } from './total.ts';

/** What a client asks of a list, its numbers within their bounds. */
export interface ListRequest {
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
  readonly skipTotal: boolean;
  readonly sort?: string | undefined;
  readonly fields?: string | undefined;
}

/** How a list comes to its total. */
type Totalling = 'none' | 'count' | 'carry on';

const shapesOf = perCollection(() => createShapeCache('list'));

/** Reads a page of records with its counts: the whole body of the answer, as the database writes it. */
export async function listRecords(query: Query, collection: Collection, request: ListRequest): Promise<string> {
  const { page, perPage, skipTotal, sort, fields } = request;
  const known = skipTotal ? undefined : findKnownTotal(collection);
  const totalling = skipTotal ? 'none' : known ? 'carry on' : 'count';
  const shape = `${isUsual(request) ? perPage : ''}|${totalling}|${sort ?? ''}|${fields ?? ''}`;
  const isPlain = sort === undefined && fields === undefined;
  const statement = shapesOf(collection)(shape, () => composeList(collection, request, totalling), isPlain);
  const base = known ? [known.total, known.snapshot] : [];
  const window = isUsual(request) ? [] : [perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)];
  const [row] = await query<{ body: string } & Total>({ ...statement, values: [page, perPage, ...base, ...window] });
  if (!row) throw new Error('the statement of a list gave no row');
  if (!skipTotal) keepTotal(collection, row, !known);
  return row.body;
}

/** Sizes that user interfaces ask for. */
const usualSizes = new Set([10, 20, 25, 30, 50, 100]);

/**
 * A first page of a usual size has its limit in the text: PostgreSQL takes a limit that is a parameter for a tenth of
 * the table, so it would never keep a plan for one, but plan each request anew.
 */
const isUsual = ({ page, perPage }: ListRequest): boolean => page === 1 && usualSizes.has(perPage);

/**
 * The text of a list; its values are page and perPage, total and snapshot when a total is carried on, and limit and
 * offset when they are not in the text. With a total it gives that and its snapshot for the next list to carry on.
 */
export function composeList(collection: Collection, request: ListRequest, totalling: Totalling): string {
  const { perPage, sort, fields } = request;
  const windowAt = totalling === 'carry on' ? 5 : 3;
  const rows = `coalesce((select string_agg(row_to_json(r.*)::text, ',') from (
  select ${selectList(project(collection, fields), 't')}
  from ${tableOf(collection)} t
  order by ${orderBy(collection, sort)}
  limit ${isUsual(request) ? perPage : `$${windowAt} offset $${windowAt + 1}`}
) r), '')`;
  const head = `'{"data":[' || ${rows} || '],"page":' || $1::bigint || ',"perPage":' || $2::bigint`;
  if (totalling === 'none') return `select ${head} || ',"totalItems":-1,"totalPages":-1}' as body`;
  // One statement is one snapshot: the total and the page never contradict each other.
  const pages = '(c.total::bigint + $2::bigint - 1) / $2::bigint';
  return `select ${head} || ',"totalItems":' || c.total || ',"totalPages":' || ${pages} || '}' as body,
  c.total::bigint as total, pg_current_snapshot()::text as snapshot
from (${totalling === 'count' ? countRecords(collection) : carryOnTotal(collection, '$3', '$4')}) c`;
}
