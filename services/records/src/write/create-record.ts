import { hasAccounts, readNewAccount } from '@recordbus/accounts';
import { newId } from '@recordbus/database';
import type { UnusedKey } from '@recordbus/http';
import { keyValuesOf } from '@recordbus/idempotency';
import { originOf } from '@recordbus/journal';
import { type Collection, compileRecordReader, explainRefusal, perCollection, withDefaults } from '@recordbus/schema';
import { type AnnouncedFile, explainExpired } from '../files/announced-files.ts';
import { refuseForeignFiles } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { type CallerSql, perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { fieldRefusal, refuseClosedFields, writeOf } from '../rules/field-rules.ts';
import { type Call, passesRules } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { type CreatePlace, composeCreate, composeCreateAt } from './create-sql.ts';
import { withMissingTargets } from './missing-targets.ts';
import { asksForCaptcha, captchaAlone } from './sign-up-captcha.ts';
import type { WriteRules } from './write-rules.ts';
import type { WriteUnit } from './write-unit.ts';
import type { WrittenRecord } from './written-record.ts';

/** A record to create. */
interface NewRecord {
  readonly body: Readonly<Record<string, unknown>>;
  /** The request's upload. The body has its files' names. */
  readonly upload?: Upload | undefined;
  /** The announced files that the statement keeps. Left out if the unit keeps them. */
  readonly announced?: readonly AnnouncedFile[] | undefined;
  /** The idempotency key for which the statement keeps the answer, if it does. */
  readonly keptFor?: UnusedKey | undefined;
}

const readerOf = perCollection(compileRecordReader);

const statementOf = perCaller('create', (collection, caller) =>
  prepareWrite('create', composeCreate(collection, caller)),
);

/** The same statement, which also keeps its answer for an idempotency key. */
const keptStatementOf = perCaller('create', (collection, caller) =>
  prepareWrite('create', composeCreate(collection, caller, { isKept: true })),
);

interface CreatedRow extends Omit<WrittenRecord, 'body'> {
  readonly body: string | null;
  readonly isAllowed?: boolean;
  readonly unwritable?: readonly string[];
}

/**
 * Creates a record and its event in one statement. Throws 422 naming every field that is refused, and 403 or 401 when
 * the create rule, or the write rule for a field that the body names, does not hold for the new record; then nothing is
 * written. If the collection has create hooks, the unit must be a transaction (`modeOf`).
 */
export async function createRecord(
  unit: WriteUnit,
  collection: Collection,
  record: NewRecord,
  call: Call,
  rules: WriteRules,
): Promise<WrittenRecord> {
  const values = await prepareCreate(unit, collection, record, call, rules);
  const { keptFor } = record;
  const { valuesFrom, ...statement } = (keptFor ? keptStatementOf : statementOf)(collection, {
    call,
    sent: values.sent,
  });
  const [row] = await unit
    .query<CreatedRow>({
      ...statement,
      values: valuesFrom(
        { ...values, announced: record.announced ? JSON.stringify(record.announced) : null, ...keyValuesOf(keptFor) },
        call.request,
      ),
    })
    .catch(explainExpired)
    .catch(explainRefusal(collection, Object.keys(record.body)));
  if (!row && statement.checksRule) throw ruleRefusal(call.principal);
  const written = await readCreated(unit, collection, row, call, rules);
  if (!written) throw new Error('a create statement wrote no row');
  return written;
}

/** A record to create unless it exists. */
interface PlacedRecord extends NewRecord {
  /** The new record's id; by default the server makes one. */
  readonly id?: string | undefined;
  readonly place: CreatePlace;
}

/** Creates a record like `createRecord`. Returns undefined if the record at its place exists. */
export async function createRecordAt(
  unit: WriteUnit,
  collection: Collection,
  { id, place, ...record }: PlacedRecord,
  call: Call,
  rules: WriteRules,
): Promise<WrittenRecord | undefined> {
  const prepared = await prepareCreate(unit, collection, record, call, rules);
  const values = id === undefined ? prepared : { ...prepared, id };
  const { checksRule, at } = placedStatements(collection, { call, sent: values.sent });
  const { valuesFrom, ...statement } = at(place, record.keptFor !== undefined);
  const given = { ...values, ...keyValuesOf(record.keptFor) };
  const [row] = await unit
    .query<CreatedRow>({ ...statement, checksRule, values: valuesFrom(given, call.request) })
    .catch(explainRefusal(collection, Object.keys(record.body)));
  return readCreated(unit, collection, row, call, rules);
}

/** The statements for creates at places. There are only as many as there are unique keys. */
const placedStatements = perCaller('create', (collection, caller) => {
  const made = new Map<string, ReturnType<typeof preparePlaced>>();
  return {
    at(place: CreatePlace, isKept: boolean) {
      const name = `${isKept} ${place === 'id' ? '' : place.map((field) => field.name).join()}`;
      const statement = made.get(name) ?? preparePlaced(collection, place, caller, isKept);
      made.set(name, statement);
      return statement;
    },
  };
});

const preparePlaced = (collection: Collection, place: CreatePlace, caller: CallerSql, isKept: boolean) =>
  prepareWrite('create', composeCreateAt(collection, place, caller, { isKept }));

/** Runs a create's hooks and reads the body that they leave, into the statement's values. */
export async function prepareCreate(
  unit: WriteUnit,
  collection: Collection,
  { body: sent, upload }: NewRecord,
  call: Call,
  rules: WriteRules,
) {
  if (!call.hasSolvedCaptcha && asksForCaptcha(rules.captchas, collection, call)) throw captchaAlone();
  refuseClosedFields(sent, writeOf(collection, call), call);
  const given = withDefaults(collection, sent, call);
  const before = rules.hooks.find(collection, 'create');
  const pending = { unit, collection, id: undefined, body: given, previous: undefined, context: call };
  const body = before ? await before(pending) : given;
  const values = await readNew(collection, { body, upload }, call, rules).catch(async (error: unknown) => {
    throw await withMissingTargets(error, unit.query, collection, body, call);
  });
  return { ...values, sent: Object.keys(sent) };
}

/** Reads a body, with its defaults, into the statement's values. Throws 422 for every field that is refused. */
export async function readNew(
  collection: Collection,
  { body, upload }: NewRecord,
  call: Call,
  { passwords, encryption }: Pick<WriteRules, 'passwords' | 'encryption'>,
) {
  const reader = readerOf(collection);
  const account = hasAccounts(collection)
    ? await readNewAccount(passwords, body, reader, passesRules(call, collection, 'write'))
    : undefined;
  const fields = await encryption.storeSecrets(collection, await reader.readNew(account ? account.body : body));
  refuseForeignFiles(collection, fields, upload);
  const id = upload?.recordId ?? newId();
  return { ...originOf(call), id, fields, passwordHash: account?.passwordHash };
}

/** Reads a create's row; undefined when nothing was written. Throws 403 or 401 for the rules that do not hold. */
async function readCreated(
  { due }: WriteUnit,
  collection: Collection,
  row: CreatedRow | undefined,
  call: Call,
  { encryption }: Pick<WriteRules, 'encryption'>,
): Promise<WrittenRecord | undefined> {
  if (row?.isAllowed === false) throw ruleRefusal(call.principal);
  if (row?.unwritable && row.unwritable.length > 0) throw fieldRefusal(row.unwritable, call);
  if (!row || row.body === null) return undefined;
  due.add('wakeRelay');
  const body = await decryptAnswer(encryption, { collection, expansions: undefined }, row.body);
  return { body, version: row.version };
}
