import { newId } from '@recordbus/database';
import { originOf } from '@recordbus/journal';
import { type Collection, compileRecordReader, explainRefusal, withDefaults } from '@recordbus/schema';
import { hasAccounts, readNewAccount } from '../accounts/new-account.ts';
import { refuseForeignFiles } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { decryptAnswer } from '../read/decrypt-answer.ts';
import { perCallerKind } from '../record/per-caller-kind.ts';
import { perCollection, prepareWrite } from '../record/prepared.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { type Call, needsRuleCheck } from '../rules/rule-context.ts';
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

const open = perCollection((collection) => prepareWrite('create', composeCreate(collection)));

const ruled = perCallerKind((collection, context) =>
  prepareWrite(
    'create',
    composeCreate(collection, (parameters) => compileRule(collection, 'create', context, { row: 'draft', parameters })),
  ),
);

/**
 * Creates a record and its event in one statement. Throws 422 naming every field that is refused, and 403 or 401 when
 * the create rule does not hold for the record as it would be stored; then nothing is written. If the collection has
 * create hooks, the unit has to be a transaction (`modeOf`).
 */
export async function createRecord(
  unit: WriteUnit,
  collection: Collection,
  { body: sent, upload }: NewRecord,
  call: Call,
  { passwords, encryption, hooks }: WriteRules,
): Promise<WrittenRecord> {
  const given = withDefaults(collection, sent, call);
  const before = hooks.find(collection, 'create');
  const pending = { unit, collection, id: undefined, body: given, previous: undefined, context: call };
  const body = before ? await before(pending) : given;
  const reader = readerOf(collection);
  const account = hasAccounts(collection) ? await readNewAccount(passwords, body, call, reader) : undefined;
  const fields = await encryption.storeSecrets(collection, await reader.readNew(account ? account.body : body));
  refuseForeignFiles(collection, fields, upload);
  const isRuled = needsRuleCheck(collection, 'create', call);
  const { valuesFrom, ...statement } = isRuled ? ruled(collection, call) : open(collection);
  const id = upload?.recordId ?? newId();
  const [row] = await unit
    .query<WrittenRecord>({
      ...statement,
      checksRule: isRuled,
      values: valuesFrom({ ...originOf(call), id, fields, passwordHash: account?.passwordHash }, call.request),
    })
    .catch(explainRefusal(collection));
  if (!row && isRuled) throw ruleRefusal(call.principal);
  if (!row) throw new Error('the statement of a create returned no row');
  unit.due.add('wakeRelay');
  return { ...row, body: await decryptAnswer(encryption, { collection, expansions: undefined }, row.body) };
}
