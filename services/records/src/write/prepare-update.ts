import type { Query } from '@recordbus/database';
import type { Collection, FieldSealing } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { readStored } from '../read/read-stored.ts';
import type { Asking } from '../rules/compile-rule.ts';
import { lockRecord } from './lock-record.ts';
import type { WriteHooks } from './write-hooks.ts';
import type { Unwritten } from './written-record.ts';

type Body = Readonly<Record<string, unknown>>;

/** The change of a record before its hooks. */
interface PendingChange {
  readonly id: string;
  readonly body: Body;
  /** The versions (`updated_at` in unix seconds) that may be changed; any when undefined. */
  readonly versions: readonly number[] | undefined;
}

/**
 * Runs what stands before the update of a record, and gives the body that it goes on with: the same, without a
 * statement, when nothing does. Else the query has to be of a transaction, in which the record is locked and the rule
 * and the version are asked first.
 */
export async function prepareUpdate(
  query: Query,
  collection: Collection,
  { id, body, versions }: PendingChange,
  context: RequestContext,
  asking: Asking,
  { hooks, sealing }: { readonly hooks: WriteHooks; readonly sealing: FieldSealing },
): Promise<{ readonly outcome: 'ready'; readonly body: Body } | Unwritten> {
  const before = hooks.find(collection, 'update');
  if (!before) return { outcome: 'ready', body };
  const locked = await lockRecord(query, collection, 'update', { id, versions }, asking);
  if (locked.outcome !== 'locked') return locked;
  const previous = (await readStored(query, collection, [id], sealing)).get(id);
  return { outcome: 'ready', body: await before({ query, collection, id, body, previous, context }) };
}
