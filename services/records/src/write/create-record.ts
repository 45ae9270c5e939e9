import { newId } from '@recordbus/database';
import { originOf } from '@recordbus/journal';
import { type Collection, compileRecordReader, explainRefusal, withDefaults } from '@recordbus/schema';
import { hasAccounts, readNewAccount } from '../accounts/new-account.ts';
import { refuseForeignFiles } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { decryptAnswer } from '../read/decrypt-answer.ts';
import { perCaller } from '../record/caller-sql.ts';
import { perCollection, prepareWrite } from '../record/prepared.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { fieldRefusal, refuseClosedFields, writeOf } from '../rules/field-rules.ts';
import type { Call } from '../rules/rule-context.ts';
import { composeCreate } from './create-sql.ts';
import type { WriteRules } from './write-rules.ts';
import type { WriteUnit } from './write-unit.ts';
import type { WrittenRecord } from './written-record.ts';

/** A record to create. */
interface NewRecord {
  readonly body: Readonly<Record<string, unknown>>;
  /** The upload of the request. The body has the names of its files. */
  readonly upload?: Upload | undefined;
}

const readerOf = perCollection(compileRecordReader);

const statementOf = perCaller('create', (collection, caller) =>
  prepareWrite('create', composeCreate(collection, caller)),
);

interface CreatedRow extends Omit<WrittenRecord, 'body'> {
  readonly body: string | null;
  readonly isAllowed?: boolean;
  readonly unwritable?: readonly string[];
}

/**
 * Creates a record and its event in one statement. Throws 422 naming every field that is refused, and 403 or 401 when
 * the create rule, or the write rule of a field that the body names, does not hold for the record as it would be stored;
 * then nothing is written. If the collection has create hooks, the unit has to be a transaction (`modeOf`).
 */
export async function createRecord(
  unit: WriteUnit,
  collection: Collection,
  { body: sent, upload }: NewRecord,
  call: Call,
  { passwords, encryption, hooks }: WriteRules,
): Promise<WrittenRecord> {
  refuseClosedFields(sent, writeOf(collection, call), call);
  const given = withDefaults(collection, sent, call);
  const before = hooks.find(collection, 'create');
  const pending = { unit, collection, id: undefined, body: given, previous: undefined, context: call };
  const body = before ? await before(pending) : given;
  const reader = readerOf(collection);
  const account = hasAccounts(collection) ? await readNewAccount(passwords, body, call, reader) : undefined;
  const fields = await encryption.storeSecrets(collection, await reader.readNew(account ? account.body : body));
  refuseForeignFiles(collection, fields, upload);
  const names = Object.keys(sent);
  const { valuesFrom, ...statement } = statementOf(collection, { call, sent: names });
  const id = upload?.recordId ?? newId();
  const values = { ...originOf(call), id, fields, passwordHash: account?.passwordHash, sent: names };
  const [row] = await unit
    .query<CreatedRow>({ ...statement, values: valuesFrom(values, call.request) })
    .catch(explainRefusal(collection));
  if (row?.isAllowed === false || (!row && statement.checksRule)) throw ruleRefusal(call.principal);
  if (row?.unwritable && row.unwritable.length > 0) throw fieldRefusal(row.unwritable, call);
  if (!row || row.body === null) throw new Error('the statement of a create wrote no row');
  unit.due.add('wakeRelay');
  const answer = await decryptAnswer(encryption, { collection, expansions: undefined }, row.body);
  return { body: answer, version: row.version };
}
