import { createNamedParameters, type NamedParameters, type SortKey } from '@recordbus/query';
import { type Collection, type FieldEncryption, tableOf, type ValueKind } from '@recordbus/schema';
import { malformedParameter } from '@recordbus/shared/errors';
import { perCollection } from '../record/prepared.ts';
import { callerKind } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { rangesAfter } from './after-cursor.ts';
import { joinedWithinLimit } from './answer-limit.ts';
import { readCondition, readSort } from './conditions.ts';
import { type CursorValues, readCursor, writeCursor } from './cursor.ts';
import { decryptAnswer } from './decrypt-answer.ts';
import { areFew, readExpand } from './expansion.ts';
import { readFieldSelection } from './field-selection.ts';
import { isCommonPageSize, type ListRequest } from './list-records.ts';
import { columnList, type Projection, recordJson } from './record-json.ts';
import type { RecordReads } from './record-reads.ts';
import { createShapeCache } from './shape-cache.ts';

/** A list by cursor, as the client sent it. */
export interface CursorRequest extends Omit<ListRequest, 'page' | 'skipTotal'> {
  /** The cursor of the page before; empty for the first page. */
  readonly cursor: string;
}

/** The values that each run of a list by cursor gives. */
interface CursorListValues {
  readonly perPage: number;
  readonly maxBytes: number;
  /** The values of the cursor, by the position of their key. */
  readonly after: ReadonlyMap<string, unknown>;
}

interface CursorPage extends Pick<NamedParameters<CursorListValues>, 'valuesFrom'> {
  readonly text: string;
  readonly name?: string;
  readonly projection: Projection;
}

/** The first part of the body, and the sort values of the last record when more records follow. */
interface CursorRow {
  readonly body: string;
  readonly last: string | null;
}

const shapesOf = perCollection(() => createShapeCache<CursorPage>('cursor'));

/**
 * Reads the page of a list behind a cursor (records §3.6). It costs the same at any depth, and counts nothing. Throws
 * 400 for an invalid filter, sort, expand or cursor, and 422 for a list that takes too long or is too large.
 */
export async function listByCursor(
  reads: RecordReads,
  collection: Collection,
  request: CursorRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<string> {
  const { cursor, perPage, filter, sort, fields, expand } = request;
  const list = { collection, filter, sort, principal: ruleContext.principal };
  const after = cursor === '' ? undefined : readCursor(cursor, list, readKeys(collection, sort, ruleContext));
  const compose = () => composeCursorPage(collection, request, after, ruleContext);
  const nulls = after?.map((value) => value === null);
  const pageSize = isCommonPageSize(perPage) && perPage;
  const shape = JSON.stringify([pageSize, nulls, callerKind(ruleContext), sort, fields, filter, expand]);
  const isPlain = [sort, fields, filter, expand].every((part) => part === undefined);
  const { valuesFrom, projection, ...statement } = shapesOf(collection)(shape, compose, isPlain);
  const values = new Map(after?.map((value, index) => [String(index), value]));
  const statementFor = (maxBytes: number) => ({
    ...statement,
    values: valuesFrom({ perPage, maxBytes, after: values }, ruleContext.request),
  });
  const isShaped =
    !isCommonPageSize(perPage) ||
    [sort, filter].some((part) => part !== undefined) ||
    !areFew(projection.expansions ?? []) ||
    projection.view.conditional.size > 0 ||
    needsRuleCheck(collection, 'list', ruleContext) ||
    collection.type === 'view';
  const [row] = await (isShaped
    ? reads.shaped<CursorRow>(statementFor(reads.maxAnswerBytes()))
    : reads.page<CursorRow>(collection.name, statementFor));
  if (!row) throw new Error('the statement of a list returned no row');
  const next = row.last === null ? null : writeCursor(list, row.last);
  return decryptAnswer(encryption, projection, `${row.body},"next":${JSON.stringify(next)}}`, reads.maxAnswerBytes());
}

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

/** The keys of a sort, to check the values of a cursor with. */
const readKeys = (collection: Collection, sort: string | undefined, ruleContext: ReadContext): readonly SortKey[] =>
  readSort(collection, sort, { row: 't', parameters: createNamedParameters() }, ruleContext).keys;

/** Composes the page behind a cursor, or the first one without its values. */
export function composeCursorPage(
  collection: Collection,
  request: Omit<CursorRequest, 'cursor'>,
  after: CursorValues | undefined,
  ruleContext: ReadContext,
): CursorPage {
  const { perPage, fields, expand } = request;
  const parameters = createNamedParameters<CursorListValues>();
  const pageSize = parameters.named('perPage', 'bigint');
  const place = { row: 't', parameters };
  const condition = readCondition(collection, request.filter, place, ruleContext);
  const { joins, orderBy, keys } = readSort(collection, request.sort, place, ruleContext);
  if (keys.some(({ kind }) => kind === 'vector')) throw malformedParameter('sort', 'a cursor cannot hold a vector');
  const projection = {
    collection,
    selection: readFieldSelection(fields),
    view: viewOf(collection, ruleContext),
    expansions: expand === undefined ? undefined : readExpand(expand, collection, ruleContext),
  };
  const { columns, from, text: json } = recordJson(projection, 'p', { parameters, ...ruleContext });
  const sqlOf = (index: number) => parameters.member('after', String(index), sqlTypes[(keys[index] as SortKey).kind]);
  const ranges = after ? rangesAfter(keys, after, sqlOf) : [undefined];
  const limit = isCommonPageSize(perPage) ? String(perPage + 1) : `${pageSize} + 1`;
  const selects = ranges.map((range) => {
    const conditions = [condition, range].filter((one) => one !== undefined);
    return `select ${[columnList(columns, 't'), ...keys.map(({ sql }, index) => `${sql} as "key:${index}"`)].join(', ')}
  from ${tableOf(collection)} t${joins && ` ${joins}`}${conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''}
  order by ${orderBy} limit ${limit}`;
  });
  const [only] = selects;
  const page =
    selects.length === 1 && only !== undefined ? only : `${unionOf(selects)} order by ${orderOf(keys)} limit ${limit}`;
  const joined = joinedWithinLimit(
    `select ${json} as json from (select * from page limit ${pageSize}) p ${from}`,
    parameters.named('maxBytes', 'bigint'),
  );
  const text = `with page as materialized (${page})
select '{"data":[' || ${joined} || '],"perPage":' || ${pageSize} as body,
  (select ${keysJson(keys)} from page where (select count(*) from page) > ${pageSize} limit 1 offset ${pageSize} - 1) as last`;
  return { text, valuesFrom: parameters.valuesFrom, projection };
}

const unionOf = (selects: readonly string[]): string =>
  `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) ranges`;

const orderOf = (keys: readonly SortKey[]): string =>
  keys.map(({ isDescending }, index) => `"key:${index}"${isDescending ? ' desc' : ''}`).join(', ');

/** SQL of the values of a cursor as JSON. A list or JSON value is its text, which tells JSON's null from SQL's. */
const keysJson = (keys: readonly SortKey[]): string =>
  `jsonb_build_array(${keys.map((key, index) => `"key:${index}"${isJsonKey(key) ? '::text' : ''}`).join(', ')})::text`;

const isJsonKey = ({ kind }: SortKey): boolean => kind === 'json' || kind === 'list';

/** The SQL types of the values in a cursor. A vector is in none. */
const sqlTypes: Readonly<Record<ValueKind, string>> = {
  text: 'text',
  number: 'double precision',
  date: 'bigint',
  bool: 'boolean',
  json: 'jsonb',
  list: 'jsonb',
  vector: 'double precision[]',
};
