import { nowSec, type Origin } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { type AuditValues, auditedAccount } from '../audit.ts';
import { hasAccounts } from '../user.ts';

/** When 2020 began, in Unix seconds. Seconds since then fit an integer until 2088. */
const epoch2020 = 1_577_836_800;

/** The token version for an account with a chosen id, as SQL. No earlier account's token has it. */
export const tokenVersionAt = (atSec: string = nowSec): string => `(${atSec} - ${epoch2020})::integer`;

/** The values of an update that only accounts have. */
export interface AccountValues extends AuditValues {
  /** The hash of a new password. */
  readonly passwordHash: string | null;
  /** The hash that the account must have. */
  readonly ifPasswordHash: string | null;
  /** The address that the account must have. */
  readonly ifEmail: string | null;
  /** Whether a new address clears `verified`. */
  readonly clearsVerified: boolean;
}

/** The values of the update that its other columns use too. */
interface UpdatedFields {
  /** Names of the fields to set. */
  readonly names: readonly string[];
  readonly fields: ReadonlyMap<string, unknown>;
}

/** What the update of a record adds for accounts; empty for other collections. `t` is the row, `old` the locked one. */
export function accountUpdateSql(
  collection: Collection,
  parameters: Pick<NamedParameters<Origin & AccountValues & UpdatedFields>, 'named' | 'member'>,
) {
  if (!hasAccounts(collection)) return { set: [], condition: '', clearIfNewEmail: '', audited: undefined };
  const hash = parameters.named('passwordHash', 'text');
  const ifHash = parameters.named('ifPasswordHash', 'text');
  const ifEmail = parameters.named('ifEmail', 'text');
  const email = parameters.member('fields', 'email', 'text');
  const isNewEmail = `'email' = any(${parameters.named('names', 'text[]')}) and lower(${email}) <> lower(t.email)`;
  return {
    set: [
      { name: 'password_hash', value: `coalesce(${hash}, t.password_hash)` },
      { name: 'password_reset_at', value: `case when ${hash} is null then t.password_reset_at else ${nowSec} end` },
      { name: 'token_version', value: `t.token_version + case when ${hash} is null then 0 else 1 end` },
    ],
    condition: ` and (${ifHash} is null or old.password_hash = ${ifHash})
    and (${ifEmail} is null or lower(old.email) = lower(${ifEmail}))`,
    clearIfNewEmail: `when ${parameters.named('clearsVerified', 'boolean')} and ${isNewEmail} then false `,
    audited: auditedAccount(collection, parameters),
  };
}
