import type { Collection, FieldEncryption } from '@recordbus/schema';
import type { Upload } from '../files/upload-parts.ts';
import { readStored } from '../read/read-stored.ts';
import { isRecordId } from '../record/record-id.ts';
import type { Call } from '../rules/rule-context.ts';
import { lockRecord, lockRow } from './lock-record.ts';
import { fieldsWithOperators, refuseResults, resolveOperators, rulesReadBody } from './operators.ts';
import type { WriteFailure } from './write-failure.ts';
import { modeOf, type WriteHooks } from './write-hooks.ts';
import { type WriteMode, widestMode } from './write-mode.ts';
import type { WriteUnit } from './write-unit.ts';

type Body = Readonly<Record<string, unknown>>;

/** A record's change before its hooks. */
interface PendingChange {
  readonly id: string;
  readonly body: Body;
  readonly upload?: Upload | undefined;
  /** The versions that may be changed; undefined for any. */
  readonly versions: readonly string[] | undefined;
}

/** A change whose hooks have run, with the values that its rule sees. */
interface ReadyChange {
  readonly outcome: 'ready';
  readonly body: Body;
  readonly call: Call;
}

/** An update's mode: one statement, unless it has hooks, or operators with a rule that reads the body. */
export const modeOfUpdate = (hooks: WriteHooks, collection: Collection, call: Call): WriteMode =>
  widestMode(modeOf(hooks, collection, 'update'), readsResults(collection, call) ? 'transaction' : 'statement');

const readsResults = (collection: Collection, call: Call): boolean =>
  rulesReadBody(collection, call) && fieldsWithOperators(collection, call.request.body ?? {}).length > 0;

/**
 * Runs the hooks before a record's update and returns the body that they leave. Without hooks it returns the given body
 * and runs no statement, unless the rule reads what operators result in. Otherwise the unit must be a transaction.
 * Before the hooks run, the record is locked, operators are replaced by their results, and rule and version are
 * checked.
 */
export async function prepareUpdate(
  unit: WriteUnit,
  collection: Collection,
  { id, body: sent, upload, versions }: PendingChange,
  call: Call,
  { hooks, encryption }: { readonly hooks: WriteHooks; readonly encryption: FieldEncryption },
): Promise<ReadyChange | WriteFailure> {
  const before = hooks.find(collection, 'update');
  if (!before && !readsResults(collection, call)) return { outcome: 'ready', body: sent, call };
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { query } = unit;
  const hasOperators = fieldsWithOperators(collection, sent).length > 0;
  // Locked first, since 404 for a missing record precedes 422 for its operators.
  if (hasOperators && !(await lockRow(query, collection, id))) return { outcome: 'missing' };
  const { body, refused } = hasOperators
    ? await resolveOperators(query, collection, { id, body: sent, upload })
    : { body: sent, refused: [] };
  const seen = hasOperators ? { ...call, request: { ...call.request, body } } : call;
  const locked = await lockRecord(query, collection, 'update', { id, versions, sent: Object.keys(sent) }, seen);
  if (locked.outcome !== 'locked') return locked;
  // A refused result reveals something about the stored value, so the rule comes first.
  refuseResults(refused);
  if (!before) return { outcome: 'ready', body, call: seen };
  const previous = (await readStored(query, collection, [id], encryption)).get(id);
  const changed = await before({ unit, collection, id, body, previous, context: call });
  return { outcome: 'ready', body: changed, call: seen };
}
