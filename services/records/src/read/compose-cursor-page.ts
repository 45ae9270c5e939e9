import { malformedParameter } from '@recordbus/errors';
import { createNamedParameters, type NamedParameters, type SortKey } from '@recordbus/query';
import { type Collection, tableOf, type ValueKind } from '@recordbus/schema';
import type { RuleContext } from '../rules/rule-context.ts';
import { composeEstimate } from '../shape/answer-estimate.ts';
import { joinedWithinLimit } from '../shape/answer-limit.ts';
import type { Projection } from '../shape/record-json.ts';
import { columnList } from '../shape/related-records.ts';
import { rangesAfter } from './after-cursor.ts';
import type { CursorValues } from './cursor.ts';
import { compileListParts, randomOrder } from './list-parts.ts';
import { isCommonPageSize, type ListRequest } from './list-request.ts';

/** The values for each run of a list by cursor. */
interface CursorListValues {
  readonly perPage: number;
  readonly maxBytes: number;
  /** The cursor's values, by their key's position. */
  readonly after: ReadonlyMap<string, unknown>;
}

/** A page's statement. */
export interface CursorPage extends Pick<NamedParameters<CursorListValues>, 'valuesFrom'> {
  readonly text: string;
  readonly name?: string;
  readonly onPrimary: boolean;
  readonly projection: Projection;
}

/** Composes the page after a cursor, or the first page without its values. */
export function composeCursorPage(
  collection: Collection,
  request: Omit<ListRequest, 'page' | 'skipTotal'>,
  after: CursorValues | undefined,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): CursorPage {
  const { perPage } = request;
  if (request.sort === randomOrder) throw malformedParameter('sort', 'a cursor has no place in a random order');
  const parameters = createNamedParameters<CursorListValues>();
  const pageSize = parameters.named('perPage', 'bigint');
  const context = { parameters, isEstimated: request.expand !== undefined, ...ruleContext };
  const { condition, sort, projection, record } = compileListParts(collection, request, context);
  const { joins, orderBy, keys } = sort;
  if (keys.some(({ kind }) => kind === 'vector')) throw malformedParameter('sort', 'a cursor cannot hold a vector');
  const sqlOf = (index: number) => parameters.member('after', String(index), sqlTypes[(keys[index] as SortKey).kind]);
  const ranges = after ? rangesAfter(keys, after, sqlOf) : [undefined];
  const limit = isCommonPageSize(perPage) ? String(perPage + 1) : `${pageSize} + 1`;
  const selects = ranges.map((range) => {
    const conditions = [condition, range].filter((one) => one !== undefined);
    return `select ${[columnList(record.columns, 't'), ...keys.map(({ sql }, index) => `${sql} as "key:${index}"`)].join(', ')}
  from ${tableOf(collection)} t${joins && ` ${joins}`}${conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''}
  order by ${orderBy} limit ${limit}`;
  });
  const [only] = selects;
  const page =
    selects.length === 1 && only !== undefined ? only : `${unionOf(selects)} order by ${orderOf(keys)} limit ${limit}`;
  const shown = `(select * from page limit ${pageSize}) p`;
  const joined = joinedWithinLimit(`select ${record.text} as value from ${shown} ${record.from}`, {
    ...context,
    maxBytes: parameters.named('maxBytes', 'bigint'),
  });
  const estimate = context.isEstimated ? `, ${composeEstimate(projection, shown, context)}` : '';
  const text = `with page as materialized (${page})${estimate}
select '{"data":[' || ${joined} || '],"perPage":' || ${pageSize} as body,
  (select ${keysJson(keys)} from page where (select count(*) from page) > ${pageSize} limit 1 offset ${pageSize} - 1) as last`;
  return { text, valuesFrom: parameters.valuesFrom, projection, onPrimary: parameters.readsAccount };
}

const unionOf = (selects: readonly string[]): string =>
  `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) ranges`;

const orderOf = (keys: readonly SortKey[]): string =>
  keys.map(({ isDescending }, index) => `"key:${index}"${isDescending ? ' desc' : ''}`).join(', ');

/**
 * A cursor's values as JSON, in SQL. A list or JSON value is represented by its text, which distinguishes JSON's null
 * from SQL's.
 */
const keysJson = (keys: readonly SortKey[]): string =>
  `jsonb_build_array(${keys.map((key, index) => `"key:${index}"${isJsonKey(key) ? '::text' : ''}`).join(', ')})::text`;

const isJsonKey = ({ kind }: SortKey): boolean => kind === 'json' || kind === 'list';

/** The SQL types of the values in a cursor. Cursors contain no vectors. */
const sqlTypes: Readonly<Record<ValueKind, string>> = {
  text: 'text',
  number: 'double precision',
  date: 'bigint',
  bool: 'boolean',
  json: 'jsonb',
  list: 'jsonb',
  vector: 'double precision[]',
};
