import { newId } from '@recordbus/database';
import type { Cte, Origin } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { type Collection, quoteLiteral } from '@recordbus/schema';
import type { Call } from '../rules/rule-context.ts';

/** Users' audited changes (admins §6.4). `o` is the row before the change, `n` after it. */
const audited = [
  { action: 'users.password_change', holds: 'n.password_hash is distinct from o.password_hash' },
  { action: 'users.email_change', holds: 'lower(n.email) is distinct from lower(o.email)' },
  { action: 'users.verify', holds: 'n.verified and not o.verified' },
];

/** The longest stored user agent, in characters; requests may have longer ones. */
const maxUserAgentLength = 512;

/** The values for `auditedAccount`. */
export interface AuditValues {
  readonly auditIds: readonly string[];
  readonly impersonatedBy: string | null;
  readonly clientAddress: string;
  readonly userAgent: string | null;
}

/** The CTE that writes the audit rows for a user's change. It reads the CTEs `old` and `new`. */
export const auditedAccount = (
  { name }: Collection,
  parameters: Pick<NamedParameters<Origin & AuditValues>, 'named'>,
): Cte => ({
  name: 'audited',
  sql: `insert into system.audit (id, at, action, actor_type, actor_id, impersonated_by, target_type, target_id, ip, user_agent, details)
  select (${parameters.named('auditIds', 'text[]')})[a.place], extract(epoch from clock_timestamp())::bigint, a.action,
    ${parameters.named('actorType', 'text')}, ${parameters.named('actorId', 'text')}, ${parameters.named('impersonatedBy', 'text')},
    'user', n.id, ${parameters.named('clientAddress', 'text')}, ${parameters.named('userAgent', 'text')},
    jsonb_build_object('collection', ${quoteLiteral(name)}::text)
  from new n join old o on o.id = n.id cross join lateral (
    values ${audited.map(({ action, holds }, index) => `(${index + 1}, ${quoteLiteral(action)}, ${holds})`).join(', ')}
  ) as a (place, action, holds)
  where a.holds`,
});

/** Returns a call's values for `auditedAccount`. */
export const auditValuesOf = ({ principal, clientAddress, request }: Call): AuditValues => ({
  auditIds: audited.map(() => newId()),
  impersonatedBy: principal.type === 'user' ? principal.impersonatedBy : null,
  clientAddress,
  userAgent: request.header('user-agent')?.slice(0, maxUserAgentLength) ?? null,
});
