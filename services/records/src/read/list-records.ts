import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import { selectList } from '../record/columns.ts';
import { perCollection } from '../sql/prepared.ts';
import { createShapeCache } from '../sql/shape-cache.ts';
import { project } from './projection.ts';
import { orderBy } from './sort.ts';

/** What a client asks of a list, its numbers within their bounds. */
export interface ListRequest {
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
  readonly skipTotal: boolean;
  readonly sort?: string | undefined;
  readonly fields?: string | undefined;
}

const shapesOf = perCollection(() => createShapeCache('list'));

/** Reads a page of records with its counts: the whole body of the answer, as the database writes it. */
export async function listRecords(query: Query, collection: Collection, request: ListRequest): Promise<string> {
  const { page, perPage, skipTotal, sort, fields } = request;
  const shape = `${isUsual(request) ? perPage : ''}|${skipTotal}|${sort ?? ''}|${fields ?? ''}`;
  const statement = shapesOf(collection)(shape, () => composeList(collection, request));
  const window = isUsual(request) ? [] : [perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)];
  const [row] = await query<{ body: string }>({ ...statement, values: [page, perPage, ...window] });
  if (!row) throw new Error('the statement of a list gave no row');
  return row.body;
}

/** Sizes that user interfaces ask for. */
const usualSizes = new Set([10, 20, 25, 30, 50, 100]);

/**
 * A first page of a usual size has its limit in the text: PostgreSQL takes a limit that is a parameter for a tenth of
 * the table, so it would never keep a plan for one, but plan each request anew.
 */
const isUsual = ({ page, perPage }: ListRequest): boolean => page === 1 && usualSizes.has(perPage);

/** The text of a list; its values are page and perPage, then limit and offset when they are not in the text. */
export function composeList(collection: Collection, request: ListRequest): string {
  const { perPage, skipTotal, sort, fields } = request;
  const table = tableOf(collection);
  const rows = `select ${selectList(project(collection, fields), 't')}
    from ${table} t
    order by ${orderBy(collection, sort)}
    limit ${isUsual(request) ? perPage : '$3 offset $4'}`;
  // One statement is one snapshot: the total and the page never contradict each other.
  const [totals, from] = skipTotal
    ? [`',"totalItems":-1,"totalPages":-1}'`, '']
    : [
        `',"totalItems":' || c.total || ',"totalPages":' || (c.total + $2::bigint - 1) / $2::bigint || '}'`,
        `\nfrom (select count(*) as total from ${table}) c`,
      ];
  return `select '{"data":[' || coalesce((select string_agg(row_to_json(r.*)::text, ',') from (
    ${rows}
  ) r), '') || '],"page":' || $1::bigint || ',"perPage":' || $2::bigint || ${totals} as body${from}`;
}
