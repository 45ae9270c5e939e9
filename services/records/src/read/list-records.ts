import type { Database } from '@recordbus/database';
import { createParameters, type Parameters } from '@recordbus/query';
import { type Collection, type FieldSealing, tableOf } from '@recordbus/schema';
import { type Asking, isAsked, writerOf } from '../rules/compile-rule.ts';
import { type Prepared, perCollection } from '../sql/prepared.ts';
import { createShapeCache } from '../sql/shape-cache.ts';
import { readCondition, readSort } from './conditions.ts';
import { readExpand } from './expansion.ts';
import { openAnswer } from './open-answer.ts';
import { readProjection } from './projection.ts';
import { readerFor } from './reader-for.ts';
import { columnList, recordJson, type Shown } from './record-json.ts';
import { carryOnTotal, countRecords, findKnownTotal, keepTotal, type Total } from './total.ts';

/** What a client asks of a list, its numbers within their bounds. */
export interface ListRequest {
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
  readonly skipTotal: boolean;
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** How a list comes to its total. */
type Totalling = 'none' | 'count' | 'carry on';

interface List extends Prepared {
  readonly parameters: Parameters;
  readonly shown: Shown;
  /** Are its rows chosen by their values, or sorted by those of other records, or many of these gone for? */
  readonly isHeavy: boolean;
}

const openShapesOf = perCollection(() => createShapeCache<List>('list'));
/** Apart from the others, since filters are ever new. */
const filteredShapesOf = perCollection(() => createShapeCache<List>('filter'));

/**
 * Reads a page of those records that the list rule and the filter let through, with its counts: the whole body of the
 * answer, as the database writes it. A heavy list goes where it holds up no other read.
 * Throws 400 for a filter, sort or expand that can't be understood.
 */
export async function listRecords(
  database: Pick<Database, 'read' | 'query'>,
  collection: Collection,
  request: ListRequest,
  asking: Asking,
  sealing: FieldSealing,
): Promise<string> {
  const { page, perPage, skipTotal, filter, sort, fields, expand } = request;
  const isFiltered = filter !== undefined || isAsked(collection, 'list', asking.principal);
  // The rows of a view come and go without an event of their own.
  const isCounted = isFiltered || collection.type === 'view';
  const known = skipTotal || isCounted ? undefined : findKnownTotal(collection);
  const totalling = skipTotal ? 'none' : known ? 'carry on' : 'count';
  const shape = JSON.stringify([
    isUsual(request) && perPage,
    totalling,
    writerOf(asking),
    sort,
    fields,
    filter,
    expand,
  ]);
  const isPlain = [sort, fields, filter, expand].every((part) => part === undefined);
  const shapesOf = isFiltered ? filteredShapesOf : openShapesOf;
  const compose = () => composeList(collection, request, totalling, asking);
  const { parameters, shown, isHeavy, ...statement } = shapesOf(collection)(shape, compose, isPlain);
  const base = known ? [known.total, known.snapshot] : [];
  const window = isUsual(request) ? [] : [perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)];
  const values = [page, perPage, ...base, ...window, ...parameters.values(asking.request)];
  const query = isHeavy ? database.query : readerFor(collection, database);
  const [row] = await query<{ body: string } & Total>({ ...statement, values });
  if (!row) throw new Error('the statement of a list gave no row');
  if (!skipTotal && !isCounted) keepTotal(collection, row, !known);
  return openAnswer(sealing, shown, row.body);
}

/** Sizes that user interfaces ask for. */
const usualSizes = new Set([10, 20, 25, 30, 50, 100]);

/** Rows of a page whose expanded records are read without holding up other reads. */
const maxLightExpanded = 100;

/**
 * A first page of a usual size has its limit in the text: PostgreSQL takes a limit that is a parameter for a tenth of
 * the table, so it would never keep a plan for one, but plan each request anew.
 */
const isUsual = ({ page, perPage }: ListRequest): boolean => page === 1 && usualSizes.has(perPage);

/**
 * A list; its values are page and perPage, total and snapshot when a total is carried on, and limit and
 * offset when they are not in the text, then those of
 * the expressions. With a total it gives that and its snapshot for the next list to carry on.
 */
export function composeList(
  collection: Collection,
  request: ListRequest,
  totalling: Totalling,
  asking: Pick<Asking, 'principal' | 'schema'>,
): List {
  const { perPage, fields, expand } = request;
  const windowAt = totalling === 'carry on' ? 5 : 3;
  const parameters = createParameters(windowAt + (isUsual(request) ? 0 : 2));
  const place = { row: 't', parameters };
  const condition = readCondition(collection, request.filter, place, asking);
  const { joins, orderBy } = readSort(collection, request.sort, place, asking);
  const where = condition === undefined ? '' : ` where ${condition}`;
  const isHeavy = where !== '' || joins !== '' || (expand !== undefined && perPage > maxLightExpanded);
  const shown = {
    collection,
    projection: readProjection(fields),
    expansions: expand === undefined ? undefined : readExpand(expand, collection, asking),
  };
  const { columns, from, text: json } = recordJson(shown, 'p', { parameters, schema: asking.schema });
  const rows = `coalesce((select string_agg(${json}, ',') from (
  select ${columnList(columns, 't')}
  from ${tableOf(collection)} t${joins && ` ${joins}`}${where}
  order by ${orderBy}
  limit ${isUsual(request) ? perPage : `$${windowAt} offset $${windowAt + 1}`}
) p ${from}), '')`;
  const head = `'{"data":[' || ${rows} || '],"page":' || $1::bigint || ',"perPage":' || $2::bigint`;
  if (totalling === 'none') {
    const text = `select ${head} || ',"totalItems":-1,"totalPages":-1}' as body`;
    return { text, parameters, shown, isHeavy };
  }
  // One statement is one snapshot: the total and the page never contradict each other.
  const pages = '(c.total::bigint + $2::bigint - 1) / $2::bigint';
  const text = `select ${head} || ',"totalItems":' || c.total || ',"totalPages":' || ${pages} || '}' as body,
  c.total::bigint as total, pg_current_snapshot()::text as snapshot
from (${totalling === 'count' ? `${countRecords(collection)} t${where}` : carryOnTotal(collection, '$3', '$4')}) c`;
  return { text, parameters, shown, isHeavy };
}
