import { newId, type Query } from '@recordbus/database';
import { maskKeys } from '@recordbus/process/mask-keys';
import type { RequestContext } from '@recordbus/request/context';

/** An action to record in the audit log. */
export interface AuditedAction {
  /** `<area>.<verb>`: "collections.create", "files.download" (admins §6.3). */
  readonly action: string;
  /** The request that caused it, for its principal and address; 'system' for the product's own actions. */
  readonly context: Pick<RequestContext, 'principal' | 'clientAddress'> | 'system';
  readonly userAgent?: string | undefined;
  readonly target?: { readonly type: string; readonly id: string };
  /** Must not hold secrets: every admin reads them. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Longest stored user agent, in characters; requests may have longer ones. */
const maxUserAgentLength = 512;

/**
 * Inserts one audit log row (admins §6.2). With a transaction's `query` the row is committed with the action; `at`
 * comes from the database's clock, which all replicas share.
 */
export async function recordAudit(query: Query, audited: AuditedAction): Promise<void> {
  const { action, context, userAgent, target, details = {} } = audited;
  const { principal, clientAddress } =
    context === 'system' ? { principal: { type: 'system' as const }, clientAddress: null } : context;
  await query({
    name: 'audit-record',
    text: `insert into system.audit (id, at, action, actor_type, actor_id, impersonated_by,
             target_type, target_id, ip, user_agent, details)
           values ($1, extract(epoch from clock_timestamp())::bigint, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      newId(),
      action,
      principal.type,
      'id' in principal ? principal.id : null,
      principal.type === 'user' ? principal.impersonatedBy : null,
      target?.type ?? null,
      target?.id ?? null,
      clientAddress,
      userAgent === undefined ? null : maskKeys(userAgent).slice(0, maxUserAgentLength),
      maskKeys(JSON.stringify(details)),
    ],
  });
}
