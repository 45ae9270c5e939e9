import type { Collection, FieldEncryption } from '@recordbus/schema';
import { readStored } from '../read/read-stored.ts';
import type { Call } from '../rules/rule-context.ts';
import { lockRecord } from './lock-record.ts';
import type { WriteFailure } from './write-failure.ts';
import type { WriteHooks } from './write-hooks.ts';
import type { WriteUnit } from './write-unit.ts';

type Body = Readonly<Record<string, unknown>>;

/** The change of a record before its hooks. */
interface PendingChange {
  readonly id: string;
  readonly body: Body;
  /** The versions that may be changed; undefined for any. */
  readonly versions: readonly string[] | undefined;
}

/**
 * Runs the hooks before the update of a record and returns the body that they leave. Without hooks it returns the given
 * body and runs no statement. With hooks the unit has to be a transaction: the record is locked, and its rule and version
 * are checked, before the hooks run.
 */
export async function prepareUpdate(
  unit: WriteUnit,
  collection: Collection,
  { id, body, versions }: PendingChange,
  call: Call,
  { hooks, encryption }: { readonly hooks: WriteHooks; readonly encryption: FieldEncryption },
): Promise<{ readonly outcome: 'ready'; readonly body: Body } | WriteFailure> {
  const before = hooks.find(collection, 'update');
  if (!before) return { outcome: 'ready', body };
  const locked = await lockRecord(unit.query, collection, 'update', { id, versions }, call);
  if (locked.outcome !== 'locked') return locked;
  const previous = (await readStored(unit.query, collection, [id], encryption)).get(id);
  return { outcome: 'ready', body: await before({ unit, collection, id, body, previous, context: call }) };
}
