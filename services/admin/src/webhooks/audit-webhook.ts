import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import { authorOf } from '../audit/author.ts';

/** Writes the audit row of what an admin does with a webhook. Never its secret, nor the values of its headers. */
export const auditWebhook = (
  query: Query,
  input: Parameters<typeof authorOf>[0],
  action: string,
  id: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> => recordAudit(query, { ...authorOf(input), action, target: { type: 'webhook', id }, details });
