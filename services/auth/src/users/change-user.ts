import type { Query } from '@recordbus/database';
import {
  autodateAssignments,
  insertEvents,
  nextUpdatedAt,
  nowSec,
  originValues,
  selectChange,
  withHistory,
} from '@recordbus/journal';
import { type Collection, explainRefusal, tableOf } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { selectUser, type User } from './user.ts';

/** What becomes of a user; what is left out stays. */
export interface UserChange {
  readonly email?: string;
  readonly verified?: boolean;
  /** A new password (null: none opens the account any more): all tokens and sessions so far end. */
  readonly passwordHash?: string | null;
  readonly isAnonymous?: boolean;
  /** Ends all tokens and sessions so far, as a new password does anyway. */
  readonly endsSessions?: boolean;
  /** Forgets the authenticator app. */
  readonly dropsTotp?: boolean;
}

/** What must be true of the user when the change is made, or nothing is changed. */
export interface UserCondition {
  /** The address, whatever its case. */
  readonly email?: string;
  readonly isAnonymous?: boolean;
  readonly tokenVersion?: number;
}

/**
 * Changes a user, with the event (and the history row) of a record that is changed, in one statement; undefined when
 * there is no such user or the condition does not hold. After the commit the bus is to be told (`notify('outbox')`).
 * Throws 422 for an address that is taken.
 */
export async function changeUser(
  query: Query,
  collection: Collection,
  id: string,
  change: UserChange,
  context: RequestContext,
  condition: UserCondition = {},
): Promise<User | undefined> {
  const [user] = await query<User>({
    text: composeChangeUser(collection, change),
    values: [
      ...originValues(context),
      id,
      condition.email ?? null,
      condition.isAnonymous ?? null,
      condition.tokenVersion ?? null,
      ...placed.filter((name) => change[name] !== undefined).map((name) => change[name]),
    ],
  }).catch(explainRefusal(collection));
  return user;
}

/** The members of a change whose values are values of the statement, in their order. */
const placed = ['email', 'verified', 'passwordHash', 'isAnonymous'] as const;

const columnOf = {
  email: { column: 'email', type: 'text' },
  verified: { column: 'verified', type: 'boolean' },
  passwordHash: { column: 'password_hash', type: 'text' },
  isAnonymous: { column: 'is_anonymous', type: 'boolean' },
} as const;

function composeChangeUser(collection: Collection, change: UserChange): string {
  const assignments = placed
    .filter((name) => change[name] !== undefined)
    .map((name, index) => `${columnOf[name].column} = $${9 + index}::${columnOf[name].type}, `);
  if (change.passwordHash !== undefined) assignments.push(`password_reset_at = ${nowSec}, `);
  if (change.passwordHash !== undefined || change.endsSessions)
    assignments.push('token_version = t.token_version + 1, ');
  if (change.dropsTotp) assignments.push('totp_secret = null, totp_enabled = false, totp_last_step = null, ');
  return `with old as materialized (
  select t.* from ${tableOf(collection)} t where t.id = $5::text for update
), new as (
  update ${tableOf(collection)} t set ${assignments.join('')}${autodateAssignments(collection)}updated_at = ${nextUpdatedAt('t')}
  from old where t.id = old.id
    and ($6::text is null or lower(old.email) = lower($6::text))
    and ($7::boolean is null or old.is_anonymous = $7::boolean)
    and ($8::integer is null or old.token_version = $8::integer)
  returning t.*
), shown as materialized (
  ${selectChange(collection, 'new', 'old')}
), event as (
  ${insertEvents({ collection, verb: 'update', source: 'shown' })}
)${withHistory({ collection, verb: 'update', source: 'new' })}
select ${selectUser(collection, 'new')} from new`;
}
