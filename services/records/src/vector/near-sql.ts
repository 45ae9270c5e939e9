import { createParameters, type Parameters } from '@recordbus/query';
import { type Collection, type Field, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';
import { readCondition } from '../read/conditions.ts';
import { columnList, recordJson, type Shown } from '../read/record-json.ts';
import type { Asking } from '../rules/compile-rule.ts';
import { firstSourceParameter } from './database-sieve.ts';

/** A text and what its parameters are. */
interface Composed {
  readonly text: string;
  readonly parameters: Parameters;
}

type Reading = Pick<Asking, 'principal' | 'schema'>;

const column = (field: Field, row: string): string => `${row}.${quoteIdentifier(field.name)}`;

/** Bytes of a row's version in what `composeCandidates` and `composeLoad` give: block (4), offset (2), xmin (4). */
export const versionBytes = 10;
const version = 'tidsend(t.ctid) || xidsend(t.xmin)';

/** Bytes go as base64, which takes two thirds of the driver's hexadecimal. */
const base64 = (bytes: string): string => `encode(${bytes}, 'base64')`;

/**
 * The versions of all rows that have a vector and satisfy list rule and filter, one after the other in `versions`, and
 * the `storage` that they are of.
 */
export function composeCandidates(
  collection: Collection,
  field: Field,
  filter: string | undefined,
  asking: Reading,
): Composed & { readonly isConditional: boolean } {
  const parameters = createParameters();
  const condition = readCondition(collection, filter, { row: 't', parameters }, asking);
  const text = `select pg_relation_filenode(${quoteLiteral(tableOf(collection))}::regclass)::text as storage,
  string_agg(${version}, ''::bytea) as versions
from ${tableOf(collection)} t where ${column(field, 't')} is not null${condition === undefined ? '' : ` and ${condition}`}`;
  return { text, parameters, isConditional: condition !== undefined };
}

/** Rows at the given places (value 1, texts of `ctid`): `id`, and as `bytes` version and vector. */
export const composeLoad = (collection: Collection, field: Field): string =>
  `select t.id, ${base64(`${version} || array_send(${column(field, 't')})`)} as bytes
from ${tableOf(collection)} t where t.ctid = any($1::tid[])`;

/** What the rows at the given places (value 5, texts of `ctid`) are sieved by: `key` is the place. */
export const composePlaces = (collection: Collection, field: Field): string =>
  `select t.ctid::text as key, ${column(field, 't')} as vector
from ${tableOf(collection)} t where t.ctid = any($${firstSourceParameter}::tid[])`;

/** What the rows of a view are sieved by: `key` is the id. */
export function composeViewSource(
  collection: Collection,
  field: Field,
  filter: string | undefined,
  asking: Reading,
): Composed {
  const parameters = createParameters(firstSourceParameter);
  const text = `select t.id as key, ${column(field, 't')}::double precision[] as vector
${viewRows(collection, field, readCondition(collection, filter, { row: 't', parameters }, asking))}`;
  return { text, parameters };
}

/** The rows of a view of the given ids (value 1): `id`, and as `bytes` the vector. */
export const composeViewLoad = (collection: Collection, field: Field): string =>
  `${viewColumns(field)}
from ${tableOf(collection)} t where t.id = any($1::text[])`;

/** The rows of a view behind an id (value 1), as many as value 2 says: `id`, and as `bytes` the vector. */
export function composeScan(
  collection: Collection,
  field: Field,
  filter: string | undefined,
  asking: Reading,
): Composed {
  const parameters = createParameters(3);
  const condition = readCondition(collection, filter, { row: 't', parameters }, asking);
  const text = `${viewColumns(field)}
${viewRows(collection, field, condition)} and t.id collate "C" > $1::text
order by t.id collate "C" limit $2::bigint`;
  return { text, parameters };
}

const viewColumns = (field: Field): string =>
  `select t.id, ${base64(`array_send(${column(field, 't')}::double precision[])`)} as bytes`;

const viewRows = (collection: Collection, field: Field, condition: string | undefined): string =>
  `from ${tableOf(collection)} t where ${column(field, 't')} is not null${condition === undefined ? '' : ` and ${condition}`}`;

/** The rows of the given ids (value 1): `id`, as `bytes` the vector, and as `json` the record. */
export function composeFound(shown: Shown, field: Field, asking: Reading): Composed {
  const parameters = createParameters(2);
  const { columns, from, text: json } = recordJson(shown, 'p', { parameters, schema: asking.schema });
  // No field's name begins with an underscore.
  const text = `select p.id, ${base64('array_send(p._vector)')} as bytes, ${json} as json from (
  select ${columnList(columns, 't')}, ${column(field, 't')}::double precision[] as _vector
  from ${tableOf(shown.collection)} t where t.id = any($1::text[])
) p ${from}`;
  return { text, parameters };
}
