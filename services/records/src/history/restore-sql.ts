import {
  answerOf,
  historyTableOf,
  insertEvents,
  nextUpdatedAt,
  nextValue,
  selectChange,
  selectSnapshots,
  snapshotFields,
  withHistory,
} from '@recordbus/journal';
import {
  type Collection,
  type ColumnValues,
  fieldTypeOf,
  quoteIdentifier,
  quoteLiteral,
  recordColumns,
  selectList,
  tableOf,
} from '@recordbus/schema';

/** Is anything known of a record? Its value is the id. */
export const composeFindKnown = (collection: Collection): string =>
  `select from ${historyTableOf(collection)} where record_id = $1::text limit 1`;

/** The most recent snapshot of a record at or before a time: which one, as a record, and the ids of the fields it knows. */
export function composeFindSnapshot(collection: Collection): string {
  const picked = `select * from ${historyTableOf(collection)}
    where record_id = $1::text and at <= $2::bigint order by at desc limit 1`;
  return `select k.at, row_to_json(r.*) as record, array(select json_object_keys(k.snapshot)) as "fieldIds"
  from (${picked}) k join lateral (${selectSnapshots(collection, 'select k.*')}) n on true
  cross join lateral (select ${selectList(recordColumns(collection), 'n')}) r`;
}

/**
 * Writes the values of a snapshot back to a record that is locked; its values are the origin, the id, the snapshot's
 * `at`, the names of the fields to set, and those of files to leave out of lists (both asked for also where there are
 * no such fields). What is restored never leaves the database, so it comes back as it was stored, sealed values sealed.
 * A restore that hooks have changed takes `changeValues` besides, which go before those of the snapshot.
 */
export function composeRestore(collection: Collection, { isChanged = false } = {}): string {
  const known = new Set(snapshotFields(collection));
  const assignments = collection.fields.flatMap((field, index) => {
    const column = quoteIdentifier(field.name);
    const name = quoteLiteral(field.name);
    const changed = isChanged
      ? [`when ${name} = any($9::text[]) then $${10 + index}::${fieldTypeOf(field).columnType(field)}`]
      : [];
    const ofThen = field.type === 'file' && field.options.multiple ? withoutLost(`p.${column}`) : nextValue(field, 'p');
    const restored = known.has(field) ? [`when ${name} = any($7::text[]) then ${ofThen}`] : [];
    const cases = [...changed, ...restored];
    return cases.length > 0 ? [`${column} = case ${cases.join(' ')} else ${nextValue(field, 't')} end, `] : [];
  });
  const picked = `select * from ${historyTableOf(collection)} where record_id = $5::text and at = $6::bigint`;
  return `with old as materialized (
  select t.* from ${tableOf(collection)} t where t.id = $5::text
), picked as materialized (
  ${selectSnapshots(collection, picked)}
), new as (
  update ${tableOf(collection)} t set ${assignments.join('')}updated_at = ${nextUpdatedAt('t')}
  from picked p where t.id = p.id
  returning t.*
), shown as materialized (
  ${selectChange(collection, 'new', 'old')}
), event as (
  ${insertEvents({ collection, verb: 'update', source: 'shown' })}
)${withHistory({ collection, verb: 'update', source: 'new' })}
select '{"data":' || ${answerOf(collection, 's')} || '}' as body, s.updated_at as "updatedAtSec" from shown s
where $7::text[] is not null and $8::text[] is not null`;
}

/** The names of changed fields, and a value for each field. */
export const changeValues = ({ fields }: Collection, changed: ColumnValues): unknown[] => [
  [...changed.keys()],
  ...fields.map(({ name }) => changed.get(name) ?? null),
];

const withoutLost = (list: string): string =>
  `case when ${list} is not null then (
    select coalesce(jsonb_agg(f.name order by f.place), '[]')
    from jsonb_array_elements_text(${list}) with ordinality f(name, place) where f.name <> all($8::text[])
  ) end`;
