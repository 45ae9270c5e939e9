import type { Query } from '@recordbus/database';
import { createParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import { perCollection } from '../sql/prepared.ts';
import type { Unwritten } from './written-record.ts';

/** Which record, and of which versions (`updated_at` in unix seconds) it may be; any when undefined. */
interface Wanted {
  readonly id: string;
  readonly versions: readonly number[] | undefined;
}

/**
 * Locks a record for the rest of the transaction, so that from here on nothing new can refer to it; says why it can not
 * be written: it is not there, the rule for the action does not hold for it, or it is of another version.
 */
export async function lockRecord(
  query: Query,
  collection: Collection,
  action: 'update' | 'delete',
  { id, versions }: Wanted,
  asking: Asking,
): Promise<{ readonly outcome: 'locked' } | Unwritten> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { text, parameters } = isAsked(collection, action, asking.principal)
    ? ruled[action](collection, asking.schema)
    : { text: composeLock(collection), parameters: undefined };
  const values = [id, ...(parameters?.values(asking.request) ?? [])];
  const [row] = await query<{ updatedAtSec: number; isAllowed?: boolean }>({ text, values });
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  const { updatedAtSec } = row;
  return versions && !versions.includes(updatedAtSec) ? { outcome: 'mismatch', updatedAtSec } : { outcome: 'locked' };
}

const ruled = { update: ruledLocks('update'), delete: ruledLocks('delete') };

function ruledLocks(action: 'update' | 'delete') {
  return perCollection((collection, schema: Asking['schema']) => {
    const parameters = createParameters(2);
    const rule = compileRule(collection, action, schema, { row: 'old', stored: 'old', parameters });
    return { text: composeLock(collection, rule), parameters };
  });
}

/**
 * The text that locks a record and gives its version; its first value is the id. With a rule, a condition on the row
 * `old`, it says whether that holds.
 */
export const composeLock = (collection: Collection, rule?: string): string =>
  rule === undefined
    ? `select t.updated_at as "updatedAtSec" from ${tableOf(collection)} t where t.id = $1::text for update`
    : `with old as materialized (
  select t.* from ${tableOf(collection)} t where t.id = $1::text for update
), ${ruleVerdict(rule)}version as (select old.updated_at from old)
select version.updated_at as "updatedAtSec", verdict.allowed as "isAllowed" from version cross join verdict`;
