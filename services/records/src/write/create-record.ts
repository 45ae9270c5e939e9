import { newId, type Query } from '@recordbus/database';
import { type Collection, compileRecordReader, fieldTypeOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { perCollection, prepare } from '../sql/prepared.ts';
import { selectRecord } from './changed-sql.ts';
import { insertEvents, nowSec, originValues } from './event-sql.ts';
import { explainRefusal } from './refused-write.ts';
import type { WrittenRecord } from './written-record.ts';

const compiled = perCollection((collection) => ({
  reader: compileRecordReader(collection),
  statement: prepare('create', composeCreate(collection)),
}));

/** Makes a record and its event in one statement. Throws 422 naming every field that is refused. */
export async function createRecord(
  query: Query,
  collection: Collection,
  body: Readonly<Record<string, unknown>>,
  context: RequestContext,
): Promise<WrittenRecord> {
  const { reader, statement } = compiled(collection);
  const written = reader.readNew(body);
  const values = collection.fields.map(({ name }) => written.get(name) ?? null);
  const [row] = await query<WrittenRecord>({
    ...statement,
    values: [...originValues(context), newId(), ...values],
  }).catch(explainRefusal(collection));
  if (!row) throw new Error('the statement of a create gave no row');
  return row;
}

/** The text of a create; its values are the origin, the id, and one for each field. */
export function composeCreate(collection: Collection): string {
  const columns = collection.fields.map((field) => `, ${quoteIdentifier(field.name)}`);
  const values = collection.fields.map((field, index) => `, $${6 + index}::${fieldTypeOf(field).columnType(field)}`);
  return `with new as (
  insert into ${tableOf(collection)} (id, created_at, updated_at${columns.join('')})
  values ($5::text, ${nowSec}, ${nowSec}${values.join('')})
  returning *
), shown as materialized (
  ${selectRecord(collection, 'new')}
), event as (
  ${insertEvents({ collection, verb: 'create', source: 'shown' })}
)
select '{"data":' || s.record || '}' as body, s.updated_at as "updatedAtSec" from shown s`;
}
