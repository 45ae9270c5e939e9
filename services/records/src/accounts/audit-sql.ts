import { newId } from '@recordbus/database';
import { type Collection, quoteLiteral } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';

/** What is audited of a change of a user, and when (docs/security.md); `o` is the row as it was, `n` as it is. */
const audited = [
  { action: 'users.password_change', holds: 'n.password_hash is distinct from o.password_hash' },
  { action: 'users.email_change', holds: 'lower(n.email) is distinct from lower(o.email)' },
  { action: 'users.verify', holds: 'n.verified and not o.verified' },
];

/** Longest user agent that is kept, in characters. */
const maxUserAgentLength = 512;

/** How many values `auditedAccount` takes. */
export const auditValueCount = 4;

/**
 * The part of an update's statement that writes the audit rows of a user's change, from its parts `old` and `new`. The
 * statement's first values are those of `originValues`; those of `auditValues` begin at the given place.
 */
export const auditedAccount = ({ name }: Collection, at: number): string => `, audited as (
  insert into system.audit (id, at, action, actor_type, actor_id, impersonated_by, target_type, target_id, ip, user_agent, details)
  select ($${at}::text[])[a.place], extract(epoch from clock_timestamp())::bigint, a.action, $1::text, $2::text,
    $${at + 1}::text, 'user', n.id, $${at + 2}::text, $${at + 3}::text, jsonb_build_object('collection', ${quoteLiteral(name)}::text)
  from new n join old o on o.id = n.id cross join lateral (
    values ${audited.map(({ action, holds }, index) => `(${index + 1}, ${quoteLiteral(action)}, ${holds})`).join(', ')}
  ) as a (place, action, holds)
  where a.holds
)`;

/** The values of `auditedAccount`. */
export const auditValues = (
  { principal, clientAddress }: Pick<RequestContext, 'principal' | 'clientAddress'>,
  userAgent: string | undefined,
): unknown[] => [
  audited.map(() => newId()),
  principal.type === 'user' ? principal.impersonatedBy : null,
  clientAddress,
  userAgent?.slice(0, maxUserAgentLength) ?? null,
];
