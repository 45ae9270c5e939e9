import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';

/** What is audited of users (docs/security.md): what opens an account, or changes how it is opened. */
export const userActions = [
  'users.impersonate',
  'users.promote',
  'users.password_change',
  'users.password_reset',
  'users.email_change',
  'users.mfa_enable',
  'users.mfa_disable',
  'users.mfa_recovery_codes',
  'users.oauth_link',
  'users.oauth_unlink',
] as const;

export type UserAction = (typeof userActions)[number];

/** The request by which something is done to a user. */
interface Origin {
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
}

/** Writes the audit row of something that was done to a user; in the transaction that does it. */
export const auditUser = (
  query: Query,
  action: UserAction,
  collection: Collection,
  userId: string,
  { context, userAgent }: Origin,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(query, {
    action,
    context,
    userAgent,
    target: { type: 'user', id: userId },
    details: { collection: collection.name, ...details },
  });
