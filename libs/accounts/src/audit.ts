import { recordAudit } from '@recordbus/audit';
import { newId, type Query } from '@recordbus/database';
import type { Cte, Origin } from '@recordbus/journal';
import type { NamedParameters, RequestValues } from '@recordbus/query';
import type { Principal, RequestContext } from '@recordbus/request/context';
import { type Collection, quoteLiteral } from '@recordbus/schema';

/** The audited actions on users (admins §6.4): access to an account, and changes to how it is accessed. */
export const userActions = [
  'users.impersonate',
  'users.block',
  'users.unblock',
  'users.sign_out',
  'users.promote',
  'users.password_change',
  'users.password_reset',
  'users.email_change',
  'users.email_change_undone',
  'users.first_proof',
  'users.mfa_enable',
  'users.mfa_disable',
  'users.mail_reset',
  'users.mfa_recovery_codes',
  'users.oauth_link',
  'users.oauth_unlink',
  'users.passkey_add',
  'users.passkey_remove',
  'users.export',
] as const;

export type UserAction = (typeof userActions)[number];

/** An action's request. */
interface AuditOrigin {
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
}

/** Writes the audit row for an action on a user, in the action's transaction. */
export const auditUser = (
  query: Query,
  action: UserAction,
  collection: Collection,
  userId: string,
  { context, userAgent }: AuditOrigin,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(query, {
    action,
    context,
    userAgent,
    target: { type: 'user', id: userId },
    details: { collection: collection.name, ...details },
  });

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

/** The request of a write to a record. */
interface AuditedWrite {
  readonly principal: Principal;
  readonly clientAddress: string;
  readonly request: Pick<RequestValues, 'header'>;
}

/** Returns a request's values for `auditedAccount`. */
export const auditValuesOf = ({ principal, clientAddress, request }: AuditedWrite): AuditValues => ({
  auditIds: audited.map(() => newId()),
  impersonatedBy: principal.type === 'user' ? principal.impersonatedBy : null,
  clientAddress,
  userAgent: request.header('user-agent')?.slice(0, maxUserAgentLength) ?? null,
});
