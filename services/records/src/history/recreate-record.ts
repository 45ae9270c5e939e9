import { isDeepStrictEqual } from 'node:util';
import { originOf } from '@recordbus/journal';
import type { RequestContext } from '@recordbus/request/context';
import {
  type Collection,
  compileRecordReader,
  explainRefusal,
  type FieldEncryption,
  isEncrypted,
  isWriteOnly,
  perCollection,
  type RecordReader,
} from '@recordbus/schema';
import { dropNamed, narrowRemoval } from '../files/announced-files.ts';
import { fileNamesIn } from '../files/file-changes.ts';
import { refuseOthersId } from '../record/others-account-ids.ts';
import type { Call } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { addChangeWork } from '../write/after-commit.ts';
import type { BeforeWrite } from '../write/write-hooks.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { WrittenRecord } from '../write/written-record.ts';
import { type RestorePlan, refuseUnknownFiles } from './prepare-restore.ts';
import { composeRecreate } from './recreate-sql.ts';
import type { RestoreRules } from './restore-rules.ts';
import { findLastSnapshot, findRestoredFields, type RestoredField, type Snapshot } from './snapshot.ts';

/** A deleted record, and the version to create it from. */
interface DeletedRecord {
  readonly id: string;
  readonly snapshot: Snapshot;
  /** Whether the history has a row for the delete. */
  readonly isRecorded: boolean;
}

const compiled = perCollection((collection) => ({
  reader: compileRecordReader(withOptionalSecrets(collection)),
  recreate: composeRecreate(collection),
}));

/**
 * Makes fields optional that a snapshot cannot always restore: passwords, files and encrypted fields (history §6.3).
 */
const withOptionalSecrets = (collection: Collection): Collection => ({
  ...collection,
  fields: collection.fields.map((field) =>
    isWriteOnly(field) || field.type === 'file' || isEncrypted(field) ? { ...field, required: false } : field,
  ),
});

/**
 * Creates a deleted record again, with its id and a version's values, in the transaction that found it deleted. An
 * account has no password and no second factor then. Throws 422 naming every field whose value cannot be written, and for an
 * id that an account in another collection has got meanwhile.
 */
export async function recreateRecord(
  unit: WriteUnit,
  collection: Collection,
  { id, snapshot, isRecorded }: DeletedRecord,
  call: Call,
  { findLostFiles, encryption, hooks, collections }: RestoreRules,
): Promise<WrittenRecord> {
  const { query } = unit;
  await refuseOthersId(query, collection, collections.otherAuthCollections(collection), id);
  const { reader, recreate } = compiled(collection);
  const files = { collectionId: collection.id, recordId: id };
  const last = await findLastSnapshot(query, collection, id);
  await narrowRemoval(query, { ...files, names: fileNamesIn(collection, last.record) });
  const lost = await findLostFiles(query, collection, id, fileNamesIn(collection, snapshot.record));
  const candidates = findRestoredFields(collection, snapshot, lost);
  const before = hooks.find(collection, 'create');
  const plan = await prepareRecreate(unit, { collection, id, candidates, reader }, call, { before, encryption });
  // Versions that the history lacks belong to this second or an earlier one, so a version in the next second is new.
  if (!isRecorded) await query({ text: untilNextSecond, values: [] });
  const values = recreate.valuesFrom({
    ...originOf(call),
    id,
    atSec: snapshot.atSec,
    revision: snapshot.revision,
    names: plan.names,
    lost: [...lost],
    changed: plan.changed,
    changedNames: [...plan.changed.keys()],
  });
  const [row] = await query<WrittenRecord>({ text: recreate.text, values }).catch(explainRefusal(collection));
  if (!row) throw new Error('the statement that creates a deleted record again returned no row');
  addChangeWork(unit, collection);
  return { ...row, body: await decryptAnswer(encryption, { collection, expansions: undefined }, row.body) };
}

const untilNextSecond = 'select pg_sleep((1.01 - extract(epoch from clock_timestamp()) % 1)::float8)';

interface PendingRecreate {
  readonly collection: Collection;
  readonly id: string;
  readonly candidates: readonly RestoredField[];
  readonly reader: RecordReader;
}

/** Runs the create hooks. Values that they do not change are restored as they were stored. */
async function prepareRecreate(
  unit: WriteUnit,
  { collection, id, candidates, reader }: PendingRecreate,
  context: RequestContext,
  { before, encryption }: { readonly before: BeforeWrite | undefined; readonly encryption: FieldEncryption },
): Promise<RestorePlan> {
  const body = Object.fromEntries(candidates.map(({ field, value }) => [field.name, value]));
  await encryption.decryptRecord(collection, body);
  const values = before ? await before({ unit, collection, id: undefined, body, previous: undefined, context }) : body;
  const isAsStored = (name: string) => Object.hasOwn(values, name) && isDeepStrictEqual(values[name], body[name]);
  const names = candidates.map(({ field }) => field.name).filter(isAsStored);
  // An encrypted value was checked when it was written, and it may not decrypt now.
  const encrypted = new Set(candidates.filter(({ field }) => isEncrypted(field)).map(({ field }) => field.name));
  const read = await reader.readNew(
    Object.fromEntries(Object.entries(values).filter(([name]) => !(encrypted.has(name) && isAsStored(name)))),
  );
  const written = new Map([...read].filter(([name]) => !names.includes(name)));
  refuseUnknownFiles(collection, written, [body]);
  const wanted = new Set(fileNamesIn(collection, values));
  const left = fileNamesIn(collection, body).filter((name) => !wanted.has(name));
  await dropNamed(unit.query, { collectionId: collection.id, recordId: id, names: left });
  return { names, changed: await encryption.storeSecrets(collection, written) };
}
