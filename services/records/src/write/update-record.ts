import {
  type AccountCaller,
  type AccountUpdate,
  type AccountValues,
  auditValuesOf,
  hasAccounts,
  readAccountUpdate,
} from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { UnusedKey } from '@recordbus/http';
import { keyValuesOf } from '@recordbus/idempotency';
import { originOf } from '@recordbus/journal';
import {
  type Collection,
  type ColumnValues,
  compileRecordReader,
  explainRefusal,
  type Field,
  perCollection,
  type RecordReader,
  tableOf,
} from '@recordbus/schema';
import { fileChangeOf, fileFieldsOf } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { type CallerSql, perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { fieldRefusal, refuseClosedFields, writeOf } from '../rules/field-rules.ts';
import { type Call, needsRuleCheck, passesRules } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { addChangeWork } from './after-commit.ts';
import { withMissingTargets } from './missing-targets.ts';
import { operandsOf, type RefusedResults, refuseResults, withoutOperations } from './operators.ts';
import { prepareUpdate } from './prepare-update.ts';
import { findByKey, type RecordKey } from './record-key.ts';
import { composeUpdate } from './update-sql.ts';
import type { WriteFailure } from './write-failure.ts';
import type { WriteRules } from './write-rules.ts';
import type { WriteUnit } from './write-unit.ts';
import type { WrittenRecord } from './written-record.ts';

/** How to find a record: by its id or by its key. */
export type RecordPlace =
  | { readonly id: string; readonly key?: undefined }
  | { readonly id?: undefined; readonly key: RecordKey };

/** A record's partial change. */
export type Change = RecordPlace & {
  readonly body: Readonly<Record<string, unknown>>;
  /** The request's upload. The body has its files' names. */
  readonly upload?: Upload | undefined;
  /** The versions that may be changed; undefined for any. */
  readonly versions: readonly string[] | undefined;
  /** The idempotency key for which the statement keeps the answer, if it does. */
  readonly keptFor?: UnusedKey | undefined;
};

/** The reader for a collection's bodies. */
export const readerOf = perCollection(compileRecordReader);

/** The statements for updates. There are only as many as there are unique keys. */
const statements = perCaller('update', (collection, caller) => {
  const made = new Map<string, ReturnType<typeof prepareUpdateStatement>>();
  return {
    find(options: UpdateVariant) {
      const name = [options.takesOperators, options.isKept, ...(options.key ?? []).map((field) => field.name)].join();
      const statement = made.get(name) ?? prepareUpdateStatement(collection, caller, options);
      made.set(name, statement);
      return statement;
    },
  };
});

interface UpdateVariant {
  readonly takesOperators: boolean;
  readonly key: readonly Field[] | undefined;
  readonly isKept: boolean;
}

const prepareUpdateStatement = (collection: Collection, caller: CallerSql, options: UpdateVariant) =>
  prepareWrite('update', composeUpdate(collection, { ...options, caller }));

type Updated = ({ readonly outcome: 'written' } & WrittenRecord) | WriteFailure;

/**
 * Changes the fields that the body names, and writes the event, in one statement. An update that changes nothing is a
 * write too: the record has a new version, and the event has `changed: []` (records §6.1). The unit has the mode that
 * `modeOfUpdate` returns. A record is found by its key only if it is not an account and its update is one statement.
 */
export async function updateRecord(
  unit: WriteUnit,
  collection: Collection,
  change: Change,
  call: Call,
  rules: WriteRules,
): Promise<Updated> {
  refuseClosedFields(change.body, writeOf(collection, call), call);
  const sent = Object.keys(change.body);
  if (change.id === undefined) return writeChange(unit, collection, { ...change, sent }, call, rules);
  const ready = await prepareUpdate(unit, collection, change, call, rules);
  if (ready.outcome !== 'ready') return ready;
  return writeChange(unit, collection, { ...change, body: ready.body, sent }, ready.call, rules);
}

/** A change whose hooks have run. */
type HookedChange = Change & {
  /** The members in the client's body; none for a change that the product itself makes. */
  readonly sent?: readonly string[];
};

/** Updates a record whose hooks have run. */
export async function writeChange(
  unit: WriteUnit,
  collection: Collection,
  change: HookedChange,
  call: Call,
  rules: Omit<WriteRules, 'hooks'>,
): Promise<Updated> {
  const { id, body } = change;
  if (id !== undefined && !isRecordId(id)) return { outcome: 'missing' };
  const refuse = async (error: unknown): Promise<never> => {
    throw await withMissingTargets(error, unit.query, collection, body, call);
  };
  const account =
    hasAccounts(collection) && id !== undefined
      ? await readAccountUpdate(unit.query, rules, collection, { id, body }, accountCaller(collection, call)).catch(
          refuse,
        )
      : undefined;
  if (account && 'outcome' in account) return account;
  const written = await readChange(readerOf(collection), account ? account.body : body);
  // 404 for a missing record precedes 422 for its body (records §13.2).
  if (written instanceof AppError) {
    if (await exists(unit.query, collection, change)) return refuse(written);
    return { outcome: 'missing' };
  }
  const stored = await rules.encryption.storeSecrets(collection, written);
  const row = await runUpdate(unit.query, collection, { ...change, written: stored, account }, call);
  const failure = failureOf(row, change, account, call);
  if (failure) return failure;
  addChangeWork(unit, collection);
  const answer = await decryptAnswer(rules.encryption, { collection, expansions: undefined }, row?.body ?? '');
  return { outcome: 'written', body: answer, version: row?.version ?? '' };
}

/** The caller of an account's update. */
const accountCaller = (collection: Collection, call: Call): AccountCaller => ({
  principal: call.principal,
  request: call.request,
  passesRules: passesRules(call, collection, 'write'),
  updateRule: needsRuleCheck(collection, 'update', call)
    ? (into) => compileRule(collection, 'update', call, into)
    : undefined,
});

type CheckedChange = HookedChange & { readonly written: ColumnValues; readonly account: AccountUpdate | undefined };

async function runUpdate(
  query: Query,
  collection: Collection,
  { id, key, written, upload, versions, account, keptFor, sent = [] }: CheckedChange,
  call: Call,
): Promise<UpdatedRow | undefined> {
  const operands = operandsOf(written, upload);
  const { checksRule, find } = statements(collection, { call, sent });
  const { valuesFrom, ...statement } = find({
    takesOperators: operands.size > 0,
    key: key?.fields,
    isKept: keptFor !== undefined,
  });
  const given = {
    ...originOf(call),
    id: id ?? '',
    key: key?.values ?? new Map(),
    versions: versions ?? null,
    names: [...written.keys()],
    fields: withFileChanges(collection, withoutOperations(written), upload),
    operands,
    sent,
    ...keyValuesOf(keptFor),
    ...(account && accountValues(account, call)),
  };
  const locks = id === undefined ? undefined : `${collection.id}/${id}`;
  const values = valuesFrom(given, call.request);
  const [row] = await query<UpdatedRow>({
    ...statement,
    checksRule,
    ...(locks !== undefined && { locks }),
    values,
  }).catch(explainRefusal(collection, written.keys()));
  return row;
}

/** Why nothing was written; undefined if the record was written. Throws the refusals that the statement found. */
function failureOf(
  row: UpdatedRow | undefined,
  { versions }: Pick<Change, 'versions'>,
  account: AccountUpdate | undefined,
  call: Call,
): WriteFailure | undefined {
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  if (row.unwritable && row.unwritable.length > 0) throw fieldRefusal(row.unwritable, call);
  refuseResults(row.refusedFiles ?? []);
  if (!versions || versions.includes(row.version)) refuseResults(row.refused ?? []);
  if (row.body === null && account?.staleProofError && !versions) throw account.staleProofError();
  return row.body === null ? { outcome: 'mismatch', version: row.version } : undefined;
}

const accountValues = ({ passwordHash, expected, clearsVerified }: AccountUpdate, call: Call): AccountValues => ({
  passwordHash: passwordHash ?? null,
  ifPasswordHash: expected.passwordHash ?? null,
  ifEmail: expected.email ?? null,
  clearsVerified,
  ...auditValuesOf(call),
});

async function readChange(reader: RecordReader, body: Change['body']): Promise<ColumnValues | AppError> {
  try {
    return await reader.readChange(body, { takesOperators: true });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

interface UpdatedRow {
  readonly body: string | null;
  readonly version: string;
  readonly isAllowed?: boolean;
  readonly unwritable?: readonly string[];
  readonly refusedFiles?: RefusedResults;
  readonly refused?: RefusedResults;
}

/** Replaces file fields' values with changes to their names: only the statement knows the current names. */
function withFileChanges(collection: Collection, written: ColumnValues, upload: Upload | undefined): ColumnValues {
  const fields = fileFieldsOf(collection).filter(({ name }) => written.has(name));
  if (fields.length === 0) return written;
  const values = new Map(written);
  for (const field of fields) {
    const { name } = field;
    const isUploadOnly = upload?.files.has(name) === true && !Object.hasOwn(upload.body, name);
    const value = written.get(name) ?? null;
    values.set(name, JSON.stringify(fileChangeOf(field, value, !isUploadOnly, upload)));
  }
  return values;
}

/** Whether the record exists. */
export async function exists(query: Query, collection: Collection, { id, key }: RecordPlace): Promise<boolean> {
  if (key) return (await findByKey(query, collection, key)) !== undefined;
  if (!isRecordId(id)) return false;
  const rows = await query({ text: `select from ${tableOf(collection)} where id = $1`, values: [id] });
  return rows.length > 0;
}
