import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import type { Prepared } from '../record/prepared.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { composeEstimate } from '../shape/answer-estimate.ts';
import { joinedThenLimited, joinedWithinLimit, maxSummedAtEnd } from '../shape/answer-limit.ts';
import { areFew } from '../shape/expansion.ts';
import type { Projection } from '../shape/record-json.ts';
import { columnList } from '../shape/related-records.ts';
import { composeTotal, type TotalValues } from './compose-total.ts';
import { compileListParts } from './list-parts.ts';
import { isCommonPage, type ListRequest } from './list-request.ts';

/** How a list computes its total. An incremental one adds to the whole collection's earlier total. */
export type TotalMode = 'none' | 'count' | 'incremental';

/** The values for each run of a list. The statement uses those that it needs. */
interface ListValues extends TotalValues {
  readonly page: number;
  readonly perPage: number;
  readonly offset: number;
  /** How many bytes the answer may have. */
  readonly maxBytes: number;
}

export interface List extends Prepared, Pick<NamedParameters<ListValues>, 'valuesFrom'> {
  readonly projection: Projection;
  /**
   * Whether the total is computed from the whole collection's, which may be incremental. Then the row has the whole's
   * total as `total`, and its `snapshot`, from which the next list computes its own.
   */
  readonly countsWhole: boolean;
  /** Whether it is read as a page: no rule, filter or parameter makes it expensive. Other lists are shaped reads. */
  readonly isPage: boolean;
}

/** Composes a list. The row has the whole answer as `body`. */
export function composeList(
  collection: Collection,
  request: ListRequest,
  totalMode: TotalMode,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): List {
  const { perPage, expand } = request;
  const parameters = createNamedParameters<ListValues>();
  const [pageNumber, pageSize] = [parameters.named('page', 'bigint'), parameters.named('perPage', 'bigint')];
  const maxBytes = parameters.named('maxBytes', 'bigint');
  const context = { parameters, isEstimated: expand !== undefined, ...ruleContext };
  const { condition, sort, projection, record } = compileListParts(collection, request, context);
  const where = condition === undefined ? '' : ` where ${condition}`;
  const rows = `(
  select ${columnList(record.columns, 't')}
  from ${tableOf(collection)} t${sort.joins && ` ${sort.joins}`}${where}
  order by ${sort.orderBy}
  limit ${isCommonPage(request) ? perPage : `${pageSize} offset ${parameters.named('offset', 'bigint')}`}
)`;
  const page = `select ${record.text} as value from ${context.isEstimated ? 'page' : rows} p ${record.from}`;
  const tables = context.isEstimated
    ? `with page as materialized ${rows}, ${composeEstimate(projection, 'page p', context)}\n`
    : '';
  const isSummedAtEnd = isCommonPage(request) && expand === undefined && perPage <= maxSummedAtEnd;
  const joined = (isSummedAtEnd ? joinedThenLimited : joinedWithinLimit)(page, { ...context, maxBytes });
  const head = `'{"data":[' || ${joined} || '],"page":' || ${pageNumber} || ',"perPage":' || ${pageSize}`;
  const isPage = totalMode !== 'count' && condition === undefined && isPlainPage(collection, request, projection);
  const list = { valuesFrom: parameters.valuesFrom, projection, isPage };
  if (totalMode === 'none') {
    const text = `${tables}select ${head} || ',"totalItems":-1,"totalPages":-1}' as body`;
    return { ...list, text, onPrimary: parameters.readsAccount, countsWhole: false };
  }
  const isIncremental = totalMode === 'incremental';
  const total = composeTotal(collection, request, isIncremental, { condition, parameters, ruleContext });
  // One statement sees one snapshot, so the total always matches the page.
  const pages = `(c.total::bigint + ${pageSize} - 1) / ${pageSize}`;
  const text = `${tables}select ${head} || ',"totalItems":' || c.total || ',"totalPages":' || ${pages} || '}' as body,
  c.${total.whole ?? 'total'}::bigint as total, pg_current_snapshot()::text as snapshot
from (${total.select}) c`;
  const countsWhole = total.whole !== undefined;
  // A standby's snapshot does not say which transactions it lacks.
  return { ...list, text, onPrimary: countsWhole || parameters.readsAccount, countsWhole };
}

/** A first page in the default order, with few expansions: no client parameter makes it much more expensive. */
const isPlainPage = (collection: Collection, request: ListRequest, { view, expansions = [] }: Projection): boolean =>
  collection.type !== 'view' &&
  isCommonPage(request) &&
  request.sort === undefined &&
  view.conditional.size === 0 &&
  areFew(expansions);
