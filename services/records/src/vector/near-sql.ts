import { createNamedParameters, createParameters, type NamedParameters, type Parameters } from '@recordbus/query';
import { type Collection, type Field, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';
import { compileCondition } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { withinLimit } from '../shape/answer-limit.ts';
import { readCondition } from '../shape/conditions.ts';
import { type Projection, recordJson } from '../shape/record-json.ts';
import { columnList } from '../shape/related-records.ts';

/** A statement's text, and its values for each run. */
interface Composed<Given extends object> extends Pick<NamedParameters<Given>, 'valuesFrom'> {
  readonly text: string;
}

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

const column = (field: Field, row: string): string => `${row}.${quoteIdentifier(field.name)}`;

/** Bytes in a row version in `composeCandidates` and `composeLoad`: block (4), offset (2), xmin (4). */
export const versionBytes = 10;
const version = 'tidsend(t.ctid) || xidsend(t.xmin)';

/** Bytes as base64, in SQL. It takes two thirds of the driver's hexadecimal. */
const base64 = (bytes: string): string => `encode(${bytes}, 'base64')`;

/**
 * Selects the versions of all rows that have a vector and satisfy list rule and filter, concatenated in `versions`, and
 * the table's `storage`, its file's id.
 */
export function composeCandidates(
  collection: Collection,
  field: Field,
  filter: string | undefined,
  ruleContext: ReadContext,
): { readonly text: string; readonly parameters: Parameters; readonly isConditional: boolean } {
  const parameters = createParameters();
  const place = { row: 't', parameters };
  const filtered = readCondition(collection, filter, place, ruleContext);
  const rule = viewOf(collection, ruleContext).conditional.get(field.name);
  // If the field's rule does not hold, the caller sees no vector.
  const visible =
    rule === undefined
      ? undefined
      : `(${compileCondition(rule, collection, ruleContext, { ...place, isTable: true })})`;
  const conditions = [filtered, visible].filter((one) => one !== undefined);
  const text = `select pg_relation_filenode(${quoteLiteral(tableOf(collection))}::regclass)::text as storage,
  string_agg(${version}, ''::bytea) as versions
from ${tableOf(collection)} t where ${column(field, 't')} is not null${conditions.map((one) => ` and ${one}`).join('')}`;
  return { text, parameters, isConditional: conditions.length > 0 };
}

/** Selects the rows with the given `ctid`s (value 1): `id`, and as `bytes` version and vector. */
export const composeLoad = (collection: Collection, field: Field): string =>
  `select t.id, ${base64(`${version} || array_send(${column(field, 't')})`)} as bytes
from ${tableOf(collection)} t where t.ctid = any($1::tid[])`;

/** The source for a prefilter over the rows with the given `ctid`s, which are its keys. */
export const composeRowSource = (
  collection: Collection,
  field: Field,
  ctids: readonly string[],
  parameters: Parameters,
): string =>
  `select t.ctid::text as key, ${column(field, 't')} as vector
from ${tableOf(collection)} t where t.ctid = any(${parameters.fixed(ctids, 'tid[]')})`;

/** The source for a prefilter over a view's rows, whose ids are its keys. */
export const composeViewSource = (
  collection: Collection,
  field: Field,
  condition: string | undefined,
): string => `select t.id as key, ${column(field, 't')}::double precision[] as vector
${viewRows(collection, field, condition)}`;

/** Selects the rows with the given ids (value 1): `id`, and as `bytes` the vector. */
export const composeVectors = (collection: Collection, field: Field): string =>
  `${vectorColumns(field)}
from ${tableOf(collection)} t where t.id = any($1::text[])`;

interface ScanValues {
  /** The previous rows' last id. */
  readonly last: string;
  readonly batchSize: number;
}

/** Selects a view's next rows, in id order: `id`, and as `bytes` the vector. */
export function composeScan(
  collection: Collection,
  field: Field,
  filter: string | undefined,
  ruleContext: ReadContext,
): Composed<ScanValues> {
  const parameters = createNamedParameters<ScanValues>();
  const condition = readCondition(collection, filter, { row: 't', parameters }, ruleContext);
  const text = `${vectorColumns(field)}
${viewRows(collection, field, condition)} and t.id collate "C" > ${parameters.named('last', 'text')}
order by t.id collate "C" limit ${parameters.named('batchSize', 'bigint')}`;
  return { text, valuesFrom: parameters.valuesFrom };
}

const vectorColumns = (field: Field): string =>
  `select t.id, ${base64(`array_send(${column(field, 't')}::double precision[])`)} as bytes`;

const viewRows = (collection: Collection, field: Field, condition: string | undefined): string =>
  `from ${tableOf(collection)} t where ${column(field, 't')} is not null${condition === undefined ? '' : ` and ${condition}`}`;

interface FoundValues {
  readonly ids: readonly string[];
  /** How many bytes all records may have together. With more, the statement fails. */
  readonly maxBytes: number;
}

/** Selects the rows with the given ids: `id`, as `bytes` the vector, and as `json` the record. */
export function composeFound(projection: Projection, field: Field, ruleContext: ReadContext): Composed<FoundValues> {
  const parameters = createNamedParameters<FoundValues>();
  const maxBytes = parameters.named('maxBytes', 'bigint');
  const { columns, from, text: json } = recordJson(projection, 'p', { parameters, ...ruleContext });
  // No field name begins with an underscore.
  const found = `select p.id, ${base64('array_send(p._vector)')} as bytes, ${json} as json from (
  select ${columnList(columns, 't')}, ${column(field, 't')}::double precision[] as _vector
  from ${tableOf(projection.collection)} t where t.id = any(${parameters.named('ids', 'text[]')})
) p ${from}`;
  const text = `select c.id, c.bytes, ${withinLimit({ maxBytes }, 'c.bytes_so_far', 'c.json')} as json from (
  select f.*, sum(octet_length(f.json)) over (rows unbounded preceding) as bytes_so_far from (${found} offset 0) f
) c`;
  return { text, valuesFrom: parameters.valuesFrom };
}
