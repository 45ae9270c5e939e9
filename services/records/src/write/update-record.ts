import type { Query } from '@recordbus/database';
import {
  answerOf,
  insertEvents,
  nextUpdatedAt,
  nextValue,
  nowSec,
  originValues,
  selectChange,
  withHistory,
} from '@recordbus/journal';
import { createParameters } from '@recordbus/query';
import {
  type Collection,
  type ColumnValues,
  compileRecordReader,
  explainRefusal,
  type Field,
  type FieldSealing,
  fieldTypeOf,
  quoteIdentifier,
  quoteLiteral,
  type RecordReader,
  tableOf,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { AppError } from '@recordbus/shared/errors';
import { readAccountChange, wrongOldPassword } from '../accounts/account-change.ts';
import type { AccountRules } from '../accounts/account-rules.ts';
import { auditedAccount, auditValueCount, auditValues } from '../accounts/audit-sql.ts';
import { hasAccounts } from '../accounts/new-account.ts';
import { changedFiles, fileChangeOf, fileFieldsOf, refuseUnknownNames, unknownFiles } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { openAnswer } from '../read/open-answer.ts';
import { isRecordId } from '../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import type { Unwritten, WrittenRecord } from './written-record.ts';

/** A partial change of a record. */
export interface Change {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What was sent with it; the body has the names of its files. */
  readonly upload?: Upload | undefined;
  /** The versions (`updated_at` in unix seconds) that may be changed; any when undefined. */
  readonly versions: readonly number[] | undefined;
}

const compiled = perCollection((collection) => ({
  reader: compileRecordReader(collection),
  statement: prepare('update', composeUpdate(collection)),
}));

const ruled = perCollection((collection, schema: Asking['schema']) => {
  const accountValues = hasAccounts(collection) ? 3 + auditValueCount : 0;
  const parameters = createParameters(collection.fields.length ? 8 + collection.fields.length + accountValues : 7);
  const rule = compileRule(collection, 'update', schema, { row: 'old', stored: 'old', parameters });
  return { ...prepare('update', composeUpdate(collection, rule)), parameters };
});

/**
 * Changes the fields that the body names, and writes the event, in one statement. A change that changes nothing is a
 * write like any other: `updated_at` advances and the event says `changed: []`.
 */
export async function updateRecord(
  query: Query,
  collection: Collection,
  { id, body, upload, versions }: Change,
  context: RequestContext,
  asking: Asking,
  rules: AccountRules & { readonly sealing: FieldSealing },
): Promise<({ readonly outcome: 'written' } & WrittenRecord) | Unwritten> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { reader, statement: open } = compiled(collection);
  const account = hasAccounts(collection)
    ? await readAccountChange(query, rules, collection, { id, body }, asking)
    : undefined;
  if (account && 'outcome' in account) return account;
  const written = readChange(reader, account ? account.body : body);
  // A record that is not there goes before a body that is refused (contract §2).
  if (written instanceof AppError) {
    if (await exists(query, collection, id)) throw written;
    return { outcome: 'missing' };
  }
  const { sealing } = rules;
  const stored = await sealing.storeSecrets(collection, written);
  const values = collection.fields.map((field) => columnValueOf(field, stored, upload));
  const { parameters, ...statement } = isAsked(collection, 'update', asking.principal)
    ? ruled(collection, asking.schema)
    : { ...open, parameters: undefined };
  const [row] = await query<UpdatedRow>({
    ...statement,
    values: [
      ...originValues(context),
      id,
      versions ?? null,
      ...(values.length ? [[...written.keys()], ...values] : []),
      ...(account ? [account.passwordHash ?? null, account.oldPasswordHash ?? null, account.clearsVerified] : []),
      ...(account ? auditValues(context, asking.request.header('user-agent')) : []),
      ...(parameters?.values(asking.request) ?? []),
    ],
  }).catch(explainRefusal(collection));
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  refuseUnknownNames(row.unknownFiles ?? []);
  if (row.body === null && account?.oldPasswordHash !== undefined && !versions) throw wrongOldPassword();
  if (row.body === null) return { outcome: 'mismatch', updatedAtSec: row.updatedAtSec };
  const answer = openAnswer(sealing, { collection, expansions: undefined }, row.body);
  return { outcome: 'written', body: answer, updatedAtSec: row.updatedAtSec };
}

function readChange(reader: RecordReader, body: Change['body']): ColumnValues | AppError {
  try {
    return reader.readChange(body);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

interface UpdatedRow {
  readonly body: string | null;
  readonly updatedAtSec: number;
  readonly isAllowed?: boolean;
  readonly unknownFiles?: readonly string[];
}

/** A file field takes what is to become of its names, since what it has now only the statement knows. */
function columnValueOf(field: Field, written: ColumnValues, upload: Upload | undefined): unknown {
  const value = written.get(field.name) ?? null;
  if (field.type !== 'file' || !written.has(field.name)) return value;
  const isUploadOnly = upload?.files.has(field.name) === true && !Object.hasOwn(upload.body, field.name);
  return JSON.stringify(fileChangeOf(field, value, !isUploadOnly, upload));
}

/** Is there such a record? */
export async function exists(query: Query, collection: Collection, id: string): Promise<boolean> {
  if (!isRecordId(id)) return false;
  const rows = await query({ text: `select from ${tableOf(collection)} where id = $1`, values: [id] });
  return rows.length > 0;
}

/**
 * The text of an update; its values are the origin, the id, the versions, the names of the fields to set, and a value
 * for each field. One text serves every set of fields: a column that is set to itself costs no index entry.
 * A collection without fields takes neither names nor values. An auth collection takes more: the hash of a new
 * password, the one it must take the place of, and whether another address is to be proved; then those of its audit rows.
 * It gives no row when there is no record, and one without a body when the record is of another version. With a
 * rule, a condition on the row `old`, it says whether that holds, and changes nothing where it does not.
 */
function composeUpdate(collection: Collection, rule?: string): string {
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
