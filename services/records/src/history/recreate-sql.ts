import { hasAccounts, tokenVersionAt } from '@recordbus/accounts';
import {
  answerOf,
  type Cte,
  composeWrite,
  historyTableOf,
  newValue,
  nextRevision,
  nextUpdatedAt,
  snapshotFields,
  versionOf,
  type WriteStatement,
} from '@recordbus/journal';
import { type Collection, type Field, fieldTypeOf, quoteIdentifier } from '@recordbus/schema';
import {
  caseChanged,
  caseRestored,
  pickedSnapshot,
  type RestoreParameters,
  type RestoreValues,
} from './restore-sql.ts';

/** Selects a record's last history row ($1): whether it is a delete, and its version. */
export const composeFindEnd = (collection: Collection): string =>
  `select h.op = 'delete' as "isDelete", ${versionOf('l')} as version
from ${historyTableOf(collection)} h cross join lateral (select h.at as updated_at, h._revision) l
where h.record_id = $1::text order by h.at desc, h._revision desc limit 1`;

/** The statement that creates a record from a snapshot. Its version follows the last one in the history. */
export const composeRecreate = (collection: Collection): WriteStatement<RestoreValues> =>
  composeWrite((parameters) => {
    const known = new Set(snapshotFields(collection));
    // None of the account's earlier tokens has this token version.
    const account = hasAccounts(collection)
      ? [
          { name: 'is_anonymous', value: 'coalesce(p.is_anonymous, false)' },
          { name: 'token_version', value: tokenVersionAt('c.now') },
        ]
      : [];
    const columns = [
      { name: 'id', value: 'p.id' },
      { name: 'created_at', value: 'p.created_at' },
      { name: 'updated_at', value: nextUpdatedAt('l', 'c.now') },
      { name: '_revision', value: nextRevision('l', 'c.now') },
      ...collection.fields.map((field) => ({
        name: quoteIdentifier(field.name),
        value: insertedValue(field, known.has(field), parameters),
      })),
      ...account,
    ];
    const id = parameters.named('id', 'text');
    const last = `select at as updated_at, _revision from ${historyTableOf(collection)} where record_id = ${id} order by at desc, _revision desc limit 1`;
    const rows = { columns, from: 'picked p cross join last l cross join clock c' };
    return {
      before: [clock, { name: 'last', sql: last, isMaterialized: true }, pickedSnapshot(collection, parameters)],
      writes: [{ collection, verb: 'create', rows }],
      answer: `select '{"data":' || ${answerOf(collection, 's')} || '}' as body, s.version from shown s`,
    };
  });

const clock: Cte = {
  name: 'clock',
  sql: 'select floor(extract(epoch from clock_timestamp()))::bigint as now',
  isMaterialized: true,
};

function insertedValue(field: Field, isInSnapshots: boolean, parameters: RestoreParameters): string {
  const cases = [caseChanged(field, parameters), ...(isInSnapshots ? [caseRestored(field, parameters)] : [])];
  return `case ${cases.join(' ')} else ${newValue(field, `null::${fieldTypeOf(field).columnType(field)}`)} end`;
}
