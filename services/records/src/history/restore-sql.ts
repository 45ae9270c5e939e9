import { type AuditValues, auditedAccount, hasAccounts } from '@recordbus/accounts';
import {
  answerOf,
  type Cte,
  composeWrite,
  historyTableOf,
  nextValue,
  type Origin,
  selectSnapshots,
  snapshotFields,
  type WriteStatement,
} from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import {
  type Collection,
  type ColumnValues,
  type Field,
  fieldTypeOf,
  quoteIdentifier,
  quoteLiteral,
  recordColumns,
  selectList,
  tableOf,
} from '@recordbus/schema';

/** Selects a record's last snapshot up to a version ($2 and $3): its version, the record, and its field ids. */
export function composeFindSnapshot(collection: Collection): string {
  const picked = `select * from ${historyTableOf(collection)}
    where record_id = $1::text and (at, _revision) <= ($2::bigint, $3::bigint)
    order by at desc, _revision desc limit 1`;
  return `select k.at as "atSec", k._revision as revision, row_to_json(r.*) as record, array(select json_object_keys(k.snapshot)) as "fieldIds"
  from (${picked}) k join lateral (${selectSnapshots(collection, 'select k.*')}) n on true
  cross join lateral (select ${selectList(recordColumns(collection), 'n')}) r`;
}

export interface RestoreValues extends Origin, Partial<AuditValues> {
  readonly id: string;
  /** The snapshot's `at` and `_revision`. */
  readonly atSec: number;
  readonly revision: number;
  /** Fields that take the snapshot's value, by name. */
  readonly names: readonly string[];
  /** Files to leave out of lists, by name: their bytes are gone. */
  readonly lost: readonly string[];
  /** The values for fields that hooks changed. */
  readonly changed: ColumnValues;
  /** These fields' names. */
  readonly changedNames: readonly string[];
}

export type RestoreParameters = NamedParameters<RestoreValues>;

/**
 * Writes a snapshot's values to a locked record. The values never leave the database, so they come back as they were
 * stored, encrypted ones included. With `isChanged`, the values in `changed` take precedence over the snapshot's.
 * Restoring an account writes audit rows.
 */
export const composeRestore = (collection: Collection, { isChanged = false } = {}): WriteStatement<RestoreValues> =>
  composeWrite((parameters) => {
    const known = new Set(snapshotFields(collection));
    const set = collection.fields.flatMap((field) => {
      const cases = [
        ...(isChanged ? [caseChanged(field, parameters)] : []),
        ...(known.has(field) ? [caseRestored(field, parameters)] : []),
      ];
      if (cases.length === 0) return [];
      const value = `case ${cases.join(' ')} else ${nextValue(field, 't')} end`;
      return [{ name: quoteIdentifier(field.name), value }];
    });
    const old = `select t.* from ${tableOf(collection)} t where t.id = ${parameters.named('id', 'text')}`;
    return {
      before: [{ name: 'old', sql: old, isMaterialized: true }, pickedSnapshot(collection, parameters)],
      writes: [{ collection, verb: 'update', rows: { set, joins: ' join picked p on p.id = old.id' } }],
      after: [hasAccounts(collection) ? auditedAccount(collection, parameters) : undefined],
      answer: `select '{"data":' || ${answerOf(collection, 's')} || '}' as body, s.version from shown s`,
    };
  });

/** The CTE `picked`: the snapshot to restore, as a row. */
export function pickedSnapshot(collection: Collection, parameters: RestoreParameters): Cte {
  const id = parameters.named('id', 'text');
  const version = `at = ${parameters.named('atSec', 'bigint')} and _revision = ${parameters.named('revision', 'integer')}`;
  const rows = `select * from ${historyTableOf(collection)} where record_id = ${id} and ${version}`;
  return { name: 'picked', sql: selectSnapshots(collection, rows), isMaterialized: true };
}

/** The case for a field that hooks changed. */
export function caseChanged(field: Field, parameters: RestoreParameters): string {
  const value = parameters.member('changed', field.name, fieldTypeOf(field).columnType(field));
  return `when ${quoteLiteral(field.name)} = any(${parameters.named('changedNames', 'text[]')}) then ${value}`;
}

/** The case for a field that takes its value from the row `p` of `picked`. File lists leave out lost ones. */
export function caseRestored(field: Field, parameters: RestoreParameters): string {
  const column = `p.${quoteIdentifier(field.name)}`;
  const value =
    field.type === 'file' && field.options.multiple ? withoutLostFiles(column, parameters) : nextValue(field, 'p');
  return `when ${quoteLiteral(field.name)} = any(${parameters.named('names', 'text[]')}) then ${value}`;
}

const withoutLostFiles = (list: string, parameters: RestoreParameters): string =>
  `case when ${list} is not null then (
    select coalesce(jsonb_agg(f.name order by f.place), '[]')
    from jsonb_array_elements_text(${list}) with ordinality f(name, place) where f.name <> all(${parameters.named('lost', 'text[]')})
  ) end`;
