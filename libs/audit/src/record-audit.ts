import { newId, type Query } from '@recordbus/database';
import type { RequestContext } from '@recordbus/shared/context';

/** Something that somebody did and that is to be kept. */
export interface AuditedAction {
  /** `<area>.<verb>`: "collections.create", "files.download" (contract §8). */
  readonly action: string;
  /** The request by which it was done: its caller and address. What the product does by itself has none. */
  readonly context: Pick<RequestContext, 'principal' | 'clientAddress'> | 'system';
  readonly userAgent?: string | undefined;
  readonly target?: { readonly type: string; readonly id: string };
  /** Never a secret: every admin reads these. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Longest user agent that is kept, in characters; a client may send one as long as its headers may be. */
const maxUserAgentLength = 512;

/**
 * Writes one row of the audit log (contract §7). With the `query` of a transaction the row is kept only if the action
 * is; `at` is the database's clock, which all replicas share.
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
      userAgent?.slice(0, maxUserAgentLength) ?? null,
      JSON.stringify(details),
    ],
  });
}
