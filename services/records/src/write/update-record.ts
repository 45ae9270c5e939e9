import type { Query } from '@recordbus/database';
import { originValues } from '@recordbus/journal';
import { createParameters } from '@recordbus/query';
import {
  type Collection,
  type ColumnValues,
  compileRecordReader,
  explainRefusal,
  type Field,
  type RecordReader,
  tableOf,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { AppError } from '@recordbus/shared/errors';
import { readAccountChange, wrongOldPassword } from '../accounts/account-change.ts';
import { auditValues } from '../accounts/audit-sql.ts';
import { hasAccounts } from '../accounts/new-account.ts';
import { fileChangeOf, refuseUnknownNames } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { openAnswer } from '../read/open-answer.ts';
import { isRecordId } from '../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import { prepareUpdate } from './prepare-update.ts';
import { composeUpdate, updateValueCount } from './update-sql.ts';
import type { WriteRules } from './write-rules.ts';
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
  const parameters = createParameters(updateValueCount(collection) + 1);
  const rule = compileRule(collection, 'update', schema, { row: 'old', stored: 'old', parameters });
  return { ...prepare('update', composeUpdate(collection, rule)), parameters };
});

type Updated = ({ readonly outcome: 'written' } & WrittenRecord) | Unwritten;

/**
 * Changes the fields that the body names, and writes the event, in one statement. A change that changes nothing is a
 * write like any other: `updated_at` advances and the event says `changed: []`. Where hooks stand before updates, the
 * query has to be of a transaction.
 */
export async function updateRecord(
  query: Query,
  collection: Collection,
  change: Change,
  context: RequestContext,
  asking: Asking,
  rules: WriteRules,
): Promise<Updated> {
  const ready = await prepareUpdate(query, collection, change, context, asking, rules);
  if (ready.outcome !== 'ready') return ready;
  return writeChange(query, collection, { ...change, body: ready.body }, context, asking, rules);
}

/** The same once its hooks have run. */
export async function writeChange(
  query: Query,
  collection: Collection,
  { id, body, upload, versions }: Change,
  context: RequestContext,
  asking: Asking,
  rules: Omit<WriteRules, 'hooks'>,
): Promise<Updated> {
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
