import type { Query } from '@recordbus/database';
import { lockedRow, versionOf, withCtes } from '@recordbus/journal';
import { createNamedParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { perCallerKind } from '../record/per-caller-kind.ts';
import { isRecordId } from '../record/record-id.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import type { WriteFailure } from './write-failure.ts';

/** The record to lock. */
interface LockTarget {
  readonly id: string;
  /** The versions that may be locked; undefined for any. */
  readonly versions: readonly string[] | undefined;
}

/**
 * Locks a record for the rest of the transaction, so that nothing new can refer to it. Returns why it cannot be written:
 * it does not exist, the rule of the action does not hold for it, or it has another version.
 */
export async function lockRecord(
  query: Query,
  collection: Collection,
  action: 'update' | 'delete',
  { id, versions }: LockTarget,
  call: RuleContext,
): Promise<{ readonly outcome: 'locked' } | WriteFailure> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const row = needsRuleCheck(collection, action, call)
    ? await lockRuled(query, ruled[action](collection, call), id, call)
    : await lockRow(query, collection, id);
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  const { version } = row;
  return versions && !versions.includes(version) ? { outcome: 'mismatch', version } : { outcome: 'locked' };
}

interface LockedRow {
  readonly version: string;
  readonly isAllowed?: boolean;
}

/** Locks a record for the rest of the transaction and returns its version; undefined when it does not exist. */
export async function lockRow(query: Query, collection: Collection, id: string): Promise<LockedRow | undefined> {
  const text = `select ${versionOf('t')} as version from ${tableOf(collection)} t where t.id = $1::text for update`;
  const [row] = await query<LockedRow>({ text, values: [id] });
  return row;
}

const ruled = { update: ruledLocks('update'), delete: ruledLocks('delete') };

type RuledLock = ReturnType<(typeof ruled)['update']>;

async function lockRuled(
  query: Query,
  { text, valuesFrom }: RuledLock,
  id: string,
  { request }: RuleContext,
): Promise<LockedRow | undefined> {
  const [row] = await query<LockedRow>({ text, checksRule: true, values: valuesFrom({ id }, request) });
  return row;
}

/** The statement that locks a record and returns whether the rule holds. */
function ruledLocks(action: 'update' | 'delete') {
  return perCallerKind((collection, context) => {
    const parameters = createNamedParameters<{ readonly id: string }>();
    const old = lockedRow(collection, parameters.named('id', 'text'));
    const rule = compileRule(collection, action, context, { row: 'old', stored: 'old', parameters });
    const present = { name: 'present', sql: `select ${versionOf('old')} as version from old` };
    const text = `${withCtes([old, ruleVerdict(rule), present])}
select present.version, verdict.allowed as "isAllowed" from present cross join verdict`;
    return { text, valuesFrom: parameters.valuesFrom };
  });
}
