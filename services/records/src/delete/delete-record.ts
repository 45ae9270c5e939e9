import { originOf } from '@recordbus/journal';
import { type Collection, perCollection } from '@recordbus/schema';
import { perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { asDefined } from '../rules/key-collections.ts';
import { type Call, needsRuleCheck } from '../rules/rule-context.ts';
import { addChangeWork } from '../write/after-commit.ts';
import { lockRecord } from '../write/lock-record.ts';
import type { WriteFailure } from '../write/write-failure.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import { refuseBlocked } from './blockers.ts';
import { type CascadeSet, lockCascadeSet } from './cascade-set.ts';
import { clearReferences } from './clear-references.ts';
import { modeOfDelete } from './delete-mode.ts';
import { composeDeleteAny, composeDeleteMany, composeDeleteOne } from './delete-sql.ts';
import type { DeleteRules } from './deletion.ts';
import { followHooked } from './follow-hooked.ts';
import { isOwnAccount, ownAccountIn } from './own-account.ts';

/** A delete, as the client sent it. */
export interface DeleteRequest {
  readonly id: string;
  /** The versions that may be deleted; undefined for any. */
  readonly versions: readonly string[] | undefined;
}

type DeleteOutcome = { readonly outcome: 'deleted' } | WriteFailure;

const deleteAny = perCollection((collection) => prepareWrite('delete-any', composeDeleteAny(collection)));

const deleteIf = perCaller('delete', (collection, caller) =>
  prepareWrite('delete', composeDeleteOne(collection, caller)),
);

/**
 * Deletes a record and writes its event: in one statement when no relation points at its collection and it has no hooks,
 * else with its cascade set and all hooks. The caller's own account is erased, also as part of another record's cascade set. The unit has to have the mode that
 * `modeOfCallersDelete` returns. Throws 409 naming the blockers.
 */
export async function deleteRecord(
  unit: WriteUnit,
  collection: Collection,
  request: DeleteRequest,
  call: Call,
  rules: DeleteRules,
): Promise<DeleteOutcome> {
  if (!isRecordId(request.id)) return { outcome: 'missing' };
  const account = { collection, id: request.id };
  const remove = () => deleteWithCascades(unit, collection, request, call, rules);
  return isOwnAccount(account, call) ? rules.eraseOwnAccount(unit, account, call, remove) : remove();
}

async function deleteWithCascades(
  unit: WriteUnit,
  collection: Collection,
  request: DeleteRequest,
  call: Call,
  rules: DeleteRules,
): Promise<DeleteOutcome> {
  const mode = modeOfDelete(collection, rules);
  if (mode === 'statement') return deleteAlone(unit, collection, request, call);
  const { query } = unit;
  const locked = await lockRecord(query, collection, 'delete', request, call);
  if (locked.outcome !== 'locked') return locked;
  // The cascade set holds collections' full definitions, since the search may reach this one again.
  const root = { collection: asDefined(collection), id: request.id };
  const deletion = { unit, root, call, rules };
  const cascadeSet = await (mode === 'hooked'
    ? followHooked(deletion)
    : lockCascadeSet(query, root, rules.findReferrers));
  await refuseBlocked(query, cascadeSet, call.principal, rules.findReferrers);
  const remove = async () => {
    await clearReferences(deletion, cascadeSet);
    await deleteAll(unit, cascadeSet, call);
    return { outcome: 'deleted' } as const;
  };
  const own = isOwnAccount(root, call) ? undefined : ownAccountIn(cascadeSet, call);
  return own ? rules.eraseOwnAccount(unit, own, call, remove) : remove();
}

async function deleteAll(unit: WriteUnit, cascadeSet: CascadeSet, call: Call): Promise<void> {
  const { text, valuesFrom } = composeDeleteMany([...cascadeSet.keys()]);
  const ids = new Map([...cascadeSet].map(([{ id }, ids]) => [id, [...ids]]));
  await unit.query({ text, values: valuesFrom({ ...originOf(call), ids }) });
  for (const collection of cascadeSet.keys()) addChangeWork(unit, collection);
}

async function deleteAlone(
  unit: WriteUnit,
  collection: Collection,
  { id, versions }: DeleteRequest,
  call: Call,
): Promise<DeleteOutcome> {
  const isUnconditional = versions === undefined && !needsRuleCheck(collection, 'delete', call);
  const { valuesFrom, ...statement } = isUnconditional
    ? deleteAny(collection)
    : deleteIf(collection, { call, sent: [] });
  const [row] = await unit.query<{ version: string; deleted: boolean; isAllowed?: boolean }>({
    ...statement,
    locks: `${collection.id}/${id}`,
    values: valuesFrom({ ...originOf(call), id, versions: versions ?? null }, call.request),
  });
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  if (!row.deleted) return { outcome: 'mismatch', version: row.version };
  addChangeWork(unit, collection);
  return { outcome: 'deleted' };
}

/** Deletes locked records that nothing refers to and that have no hooks, in one statement. */
export const deleteUnreferred = (
  unit: WriteUnit,
  collection: Collection,
  ids: readonly string[],
  call: Call,
): Promise<void> => deleteAll(unit, new Map([[collection, new Set(ids)]]), call);
