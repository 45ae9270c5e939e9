import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';

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
  'users.mfa_recovery_codes',
  'users.oauth_link',
  'users.oauth_unlink',
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
