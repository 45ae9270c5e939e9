import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import { type Collection, type FieldEncryption, tableOf } from '@recordbus/schema';
import { type Prepared, perCollection } from '../record/prepared.ts';
import { callerKind } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { joinedThenLimited, joinedWithinLimit, mostSummedAtEnd } from './answer-limit.ts';
import { readCondition, readSort } from './conditions.ts';
import { decryptAnswer } from './decrypt-answer.ts';
import { areFew, readExpand } from './expansion.ts';
import { readFieldSelection } from './field-selection.ts';
import { columnList, type Projection, recordJson } from './record-json.ts';
import type { RecordReads } from './record-reads.ts';
import { createShapeCache } from './shape-cache.ts';
import { countedTotal, findKnownTotal, incrementalTotal, keepTotal, type Total } from './total.ts';

/** A list as the client requested it. The numbers are within their bounds. */
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

/** How a list computes its total. */
type TotalMode = 'none' | 'count' | 'incremental';

/** The values that each run of a list gives. The statement takes those that it needs. */
interface ListValues {
  readonly page: number;
  readonly perPage: number;
  readonly offset: number;
  /** The most bytes that the answer may have. */
  readonly maxBytes: number;
  /** What an incremental total adds to, and the snapshot of that total. */
  readonly total: number | undefined;
  readonly snapshot: string | undefined;
}

interface List extends Prepared, Pick<NamedParameters<ListValues>, 'valuesFrom'> {
  readonly projection: Projection;
}

const plainShapesOf = perCollection(() => createShapeCache<List>('list'));
/** A separate cache: clients keep sending new filters, which would leave no room for other shapes. */
const filteredShapesOf = perCollection(() => createShapeCache<List>('filter'));

/**
 * Reads a page of the records that the list rule and the filter admit, with its totals. The database writes the whole
 * body of the answer. Throws 400 for an invalid filter, sort or expand, and 422 for a list that takes too long or is too
 * large.
 */
export async function listRecords(
  reads: RecordReads,
  collection: Collection,
  request: ListRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<string> {
  const { page, perPage, skipTotal, filter, sort, fields, expand } = request;
  const isFiltered = filter !== undefined || needsRuleCheck(collection, 'list', ruleContext);
  // Rows of a view appear and disappear without events, so their total cannot be incremental.
  const isCounted = isFiltered || collection.type === 'view';
  const known = skipTotal || isCounted ? undefined : findKnownTotal(collection);
  const totalMode = skipTotal ? 'none' : known ? 'incremental' : 'count';
  const shape = JSON.stringify([
    isCommonPage(request) && perPage,
    totalMode,
    callerKind(ruleContext),
    sort,
    fields,
    filter,
    expand,
  ]);
  const isPlain = [sort, fields, filter, expand].every((part) => part === undefined);
  const shapesOf = isFiltered ? filteredShapesOf : plainShapesOf;
  const compose = () => composeList(collection, request, totalMode, ruleContext);
  const { valuesFrom, projection, ...statement } = shapesOf(collection)(shape, compose, isPlain);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const statementFor = (maxBytes: number) => {
    const given = { page, perPage, offset, maxBytes, total: known?.total, snapshot: known?.snapshot };
    return { ...statement, values: valuesFrom(given, ruleContext.request) };
  };
  const isShaped = !isPlainList(request, projection) || isCounted || totalMode === 'count';
  const [row] = await (isShaped
    ? reads.shaped<{ body: string } & Total>(statementFor(reads.maxAnswerBytes()))
    : reads.page<{ body: string } & Total>(collection.name, statementFor));
  if (!row) throw new Error('the statement of a list returned no row');
  if (!skipTotal && !isCounted) keepTotal(collection, row, !known);
  return decryptAnswer(encryption, projection, row.body, reads.maxAnswerBytes());
}

/** Page sizes that user interfaces use. */
const commonPageSizes = new Set([10, 20, 25, 30, 50, 100]);

/** Whether the statement of a page has its size in the text (see `isCommonPage`). */
export const isCommonPageSize = (perPage: number): boolean => commonPageSizes.has(perPage);

/** A first page in the default order, with few expansions: no parameter of the client makes it much more expensive. */
const isPlainList = (request: ListRequest, { view, expansions = [] }: Projection): boolean =>
  isCommonPage(request) &&
  request.sort === undefined &&
  request.filter === undefined &&
  view.conditional.size === 0 &&
  areFew(expansions);

/**
 * A first page of a common size has its limit in the text of the statement. PostgreSQL assumes that a limit in a
 * parameter is a tenth of the table, so it would never keep a generic plan and would plan each request again.
 */
const isCommonPage = ({ page, perPage }: ListRequest): boolean => page === 1 && isCommonPageSize(perPage);

/** Composes a list. With a total, the row has `total` and `snapshot`, from which the next list computes its own. */
export function composeList(
  collection: Collection,
  request: ListRequest,
  totalMode: TotalMode,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): List {
  const { perPage, fields, expand } = request;
  const parameters = createNamedParameters<ListValues>();
  const [pageNumber, pageSize] = [parameters.named('page', 'bigint'), parameters.named('perPage', 'bigint')];
  const maxBytes = parameters.named('maxBytes', 'bigint');
  const place = { row: 't', parameters };
  const condition = readCondition(collection, request.filter, place, ruleContext);
  const { joins, orderBy } = readSort(collection, request.sort, place, ruleContext);
  const where = condition === undefined ? '' : ` where ${condition}`;
  const projection = {
    collection,
    selection: readFieldSelection(fields),
    view: viewOf(collection, ruleContext),
    expansions: expand === undefined ? undefined : readExpand(expand, collection, ruleContext),
  };
  const { columns, from, text: json } = recordJson(projection, 'p', { parameters, ...ruleContext });
  const page = `select ${json} as json from (
  select ${columnList(columns, 't')}
  from ${tableOf(collection)} t${joins && ` ${joins}`}${where}
  order by ${orderBy}
  limit ${isCommonPage(request) ? perPage : `${pageSize} offset ${parameters.named('offset', 'bigint')}`}
) p ${from}`;
  const isSummedAtEnd = isCommonPage(request) && expand === undefined && perPage <= mostSummedAtEnd;
  const joined = (isSummedAtEnd ? joinedThenLimited : joinedWithinLimit)(page, maxBytes);
  const head = `'{"data":[' || ${joined} || '],"page":' || ${pageNumber} || ',"perPage":' || ${pageSize}`;
  if (totalMode === 'none') {
    const text = `select ${head} || ',"totalItems":-1,"totalPages":-1}' as body`;
    return { text, valuesFrom: parameters.valuesFrom, projection };
  }
  // One statement sees one snapshot, so the total always fits the page.
  const pages = `(c.total::bigint + ${pageSize} - 1) / ${pageSize}`;
  const total =
    totalMode === 'count'
      ? `${countedTotal(collection)} t${where}`
      : incrementalTotal(collection, parameters.named('total', 'bigint'), parameters.named('snapshot', 'pg_snapshot'));
  const text = `select ${head} || ',"totalItems":' || c.total || ',"totalPages":' || ${pages} || '}' as body,
  c.total::bigint as total, pg_current_snapshot()::text as snapshot
from (${total}) c`;
  return { text, valuesFrom: parameters.valuesFrom, projection };
}
