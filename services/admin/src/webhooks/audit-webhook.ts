import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import { actorOf } from '../audit/actor.ts';

/** Writes the audit row for an admin's action on a webhook. It never holds the secret or header values. */
export const auditWebhook = (
  query: Query,
  input: Parameters<typeof actorOf>[0],
  action: string,
  id: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> => recordAudit(query, { ...actorOf(input), action, target: { type: 'webhook', id }, details });
