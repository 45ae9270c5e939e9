import {
  answerOf,
  insertEvents,
  nextUpdatedAt,
  nextValue,
  nowSec,
  selectChange,
  withHistory,
} from '@recordbus/journal';
import { type Collection, fieldTypeOf, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';
import { auditedAccount, auditValueCount } from '../accounts/audit-sql.ts';
import { hasAccounts } from '../accounts/new-account.ts';
import { changedFiles, fileFieldsOf, unknownFiles } from '../files/file-changes.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';

/** How many values an update of the collection takes before those of its rule. */
export const updateValueCount = (collection: Collection): number => {
  const accountValues = hasAccounts(collection) ? 3 + auditValueCount : 0;
  return collection.fields.length ? 7 + collection.fields.length + accountValues : 6;
};

/**
 * The text of an update; its values are the origin, the id, the versions, the names of the fields to set, and a value
 * for each field. One text serves every set of fields: a column that is set to itself costs no index entry.
 * A collection without fields takes neither names nor values. An auth collection takes more: the hash of a new
 * password, the one it must take the place of, and whether another address is to be proved; then those of its audit rows.
 * It gives no row when there is no record, and one without a body when the record is of another version. With a
 * rule, a condition on the row `old`, it says whether that holds, and changes nothing where it does not.
 */
export function composeUpdate(collection: Collection, rule?: string): string {
  const accounts = accountSql(collection);
  const files = filesSql(collection);
  const assignments = collection.fields.map((field, index) => {
    const column = quoteIdentifier(field.name);
    const value = files.values.get(field) ?? `$${8 + index}::${fieldTypeOf(field).columnType(field)}`;
    const otherwise = `when ${quoteLiteral(field.name)} = any($7::text[]) then ${value} else ${nextValue(field, 't')} end, `;
    return `${column} = case ${hasAccounts(collection) && field.name === 'verified' ? accounts.unlessMoved : ''}${otherwise}`;
  });
  // The row is locked before it is compared, so of several writes that name one version exactly one finds it.
  return `with old as materialized (
  select t.* from ${tableOf(collection)} t where t.id = $5::text for update
), ${ruleVerdict(rule)}${files.cte}new as (
  update ${tableOf(collection)} t set ${assignments.join('')}${accounts.assignments}updated_at = ${nextUpdatedAt('t')}
  from old${rule === undefined ? '' : ' join verdict on verdict.allowed'}${files.join}
  where t.id = old.id and ($6::bigint[] is null or old.updated_at = any($6::bigint[]))${accounts.condition}
  returning t.*
), shown as materialized (
  ${selectChange(collection, 'new', 'old')}
), event as (
  ${insertEvents({ collection, verb: 'update', source: 'shown' })}
)${withHistory({ collection, verb: 'update', source: 'new' })}${accounts.audited}
select '{"data":' || ${answerOf(collection, 's')} || '}' as body, coalesce(s.updated_at, o.updated_at) as "updatedAtSec"${rule === undefined ? '' : ', v.allowed as "isAllowed"'}${files.column}
from old o${rule === undefined ? '' : ' cross join verdict v'}${files.source} left join shown s on true`;
}

/** The parts of an update that only collections with file fields have; empty for others. */
function filesSql(collection: Collection) {
  const changes = fileFieldsOf(collection).map((field) => ({
    field,
    change: `$${8 + collection.fields.indexOf(field)}::jsonb`,
  }));
  const values = new Map(changes.map(({ field, change }) => [field, changedFiles(field, change, 't')]));
  if (changes.length === 0) return { values, cte: '', join: '', column: '', source: '' };
  return {
    values,
    cte: `files as materialized (
  select ${unknownFiles(changes, '$7::text[]', 'old')} as unknown from old
), `,
    join: ` join files on files.unknown = '{}'`,
    column: ', f.unknown as "unknownFiles"',
    source: ' cross join files f',
  };
}

/** The parts of an update that only auth collections have; empty for others. */
function accountSql(collection: Collection) {
  if (!hasAccounts(collection)) return { assignments: '', condition: '', unlessMoved: '', audited: '' };
  const at = 8 + collection.fields.length;
  const email = `$${8 + collection.fields.findIndex(({ name }) => name === 'email')}::text`;
  return {
    assignments: `password_hash = coalesce($${at}::text, t.password_hash),
    password_reset_at = case when $${at}::text is null then t.password_reset_at else ${nowSec} end,
    token_version = t.token_version + case when $${at}::text is null then 0 else 1 end, `,
    condition: ` and ($${at + 1}::text is null or old.password_hash = $${at + 1}::text)`,
    unlessMoved: `when $${at + 2}::boolean and 'email' = any($7::text[]) and lower(${email}) <> lower(t.email) then false `,
    audited: auditedAccount(collection, at + 3),
  };
}
