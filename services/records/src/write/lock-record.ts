import type { Query } from '@recordbus/database';
import { lockedRow, versionOf, withCtes } from '@recordbus/journal';
import { createNamedParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { perCaller, type SentNames } from '../record/caller-sql.ts';
import { isRecordId } from '../record/record-id.ts';
import { fieldRefusal } from '../rules/field-rules.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import type { WriteFailure } from './write-failure.ts';

/** The record to lock. */
interface LockTarget {
  readonly id: string;
  /** The versions that may be locked; undefined for any. */
  readonly versions: readonly string[] | undefined;
  /** The members in the client's body; none for a delete. */
  readonly sent?: readonly string[];
}

/**
 * Locks a record for the rest of the transaction, so nothing new can refer to it. Returns why it cannot be written: it
 * does not exist, the action's rule does not hold for it, or it has another version. Throws 403 for members in the body
 * that the caller may not write.
 */
export async function lockRecord(
  query: Query,
  collection: Collection,
  action: 'update' | 'delete',
  { id, versions, sent = [] }: LockTarget,
  call: RuleContext,
): Promise<{ readonly outcome: 'locked' } | WriteFailure> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { text, valuesFrom, checksRule } = locks[action](collection, { call, sent });
  const row = checksRule
    ? (await query<LockedRow>({ text, checksRule, values: valuesFrom({ id, sent }, call.request) }))[0]
    : await lockRow(query, collection, id);
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  if (row.unwritable && row.unwritable.length > 0) throw fieldRefusal(row.unwritable, call);
  const { version } = row;
  return versions && !versions.includes(version) ? { outcome: 'mismatch', version } : { outcome: 'locked' };
}

interface LockedRow {
  readonly version: string;
  readonly isAllowed?: boolean;
  readonly unwritable?: readonly string[];
}

/** Locks a record for the rest of the transaction and returns its version; undefined when it does not exist. */
export async function lockRow(query: Query, collection: Collection, id: string): Promise<LockedRow | undefined> {
  const text = `select ${versionOf('t')} as version from ${tableOf(collection)} t where t.id = $1::text for update`;
  const [row] = await query<LockedRow>({ text, values: [id] });
  return row;
}

const locks = { update: locksFor('update'), delete: locksFor('delete') };

/** The statement that locks a record and returns what the rules decide. */
function locksFor(action: 'update' | 'delete') {
  return perCaller(action, (collection, caller) => {
    const parameters = createNamedParameters<{ readonly id: string } & SentNames>();
    const old = lockedRow(collection, parameters.named('id', 'text'));
    const verdict = ruleVerdict(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const text = `${withCtes([old, verdict.cte])}
select ${versionOf('o')} as version${verdict.columns} from old o${verdict.cte ? ' cross join verdict v' : ''}`;
    return { text, valuesFrom: parameters.valuesFrom };
  });
}
