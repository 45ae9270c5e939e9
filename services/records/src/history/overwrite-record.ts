import { auditValuesOf, hasAccounts } from '@recordbus/accounts';
import { originOf } from '@recordbus/journal';
import {
  type Collection,
  compileRecordReader,
  explainRefusal,
  isEncrypted,
  perCollection,
  type RecordReader,
} from '@recordbus/schema';
import { fileNamesIn } from '../files/file-changes.ts';
import type { Call } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { addChangeWork } from '../write/after-commit.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { WrittenRecord } from '../write/written-record.ts';
import { prepareRestore, type RestorePlan } from './prepare-restore.ts';
import type { RestoreRules } from './restore-rules.ts';
import { composeRestore } from './restore-sql.ts';
import { findRestoredFields, type RestoredField, type Snapshot } from './snapshot.ts';

const compiled = perCollection((collection) => ({
  reader: compileRecordReader(collection),
  restore: composeRestore(collection),
}));

/** For restores that hooks change. */
const compiledChanged = perCollection((collection) => composeRestore(collection, { isChanged: true }));

/**
 * Restores a locked record's version, as an update. Fields that the version does not have, and single files whose bytes
 * are gone, stay as they are; lists come back without such files. Changes to an account's password or address are
 * audited. Returns undefined when a hook has deleted the record.
 */
export async function overwriteRecord(
  unit: WriteUnit,
  collection: Collection,
  { id, snapshot }: { readonly id: string; readonly snapshot: Snapshot },
  call: Call,
  { findLostFiles, encryption, hooks }: RestoreRules,
): Promise<WrittenRecord | undefined> {
  const { reader, restore } = compiled(collection);
  const lost = await findLostFiles(unit.query, collection, id, fileNamesIn(collection, snapshot.record));
  const candidates = findRestoredFields(collection, snapshot, lost);
  const before = hooks.find(collection, 'update');
  const { names, changed } = before
    ? await prepareRestore(unit, { collection, id, candidates, reader }, call, { before, encryption })
    : await checkRestored(reader, candidates);
  const { text, valuesFrom } = changed.size === 0 ? restore : compiledChanged(collection);
  const { atSec, revision } = snapshot;
  const restored = { id, atSec, revision, names, lost: [...lost], changed, changedNames: [...changed.keys()] };
  const audit = hasAccounts(collection) ? auditValuesOf(call) : {};
  const [row] = await unit
    .query<WrittenRecord>({ text, values: valuesFrom({ ...originOf(call), ...audit, ...restored }) })
    .catch(explainRefusal(collection));
  if (!row) return undefined;
  addChangeWork(unit, collection);
  return { ...row, body: await decryptAnswer(encryption, { collection, expansions: undefined }, row.body) };
}

/** Throws 422 for values that their fields now refuse. An encrypted value was checked when it was written. */
async function checkRestored(reader: RecordReader, candidates: readonly RestoredField[]): Promise<RestorePlan> {
  await reader.readChange(
    Object.fromEntries(candidates.flatMap(({ field, value }) => (isEncrypted(field) ? [] : [[field.name, value]]))),
  );
  return { names: candidates.map(({ field }) => field.name), changed: new Map() };
}
