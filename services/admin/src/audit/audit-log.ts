import type { Query } from '@recordbus/database';
import { z } from 'zod';

/** An audit log row as the API shows it (admins §6.2). */
export const auditJson = z
  .object({
    id: z.string(),
    at: z.int().describe('unix seconds'),
    action: z.string().describe('`<area>.<verb>`'),
    actor_type: z.enum(['user', 'admin', 'guest', 'system', 'service']),
    actor_id: z.string().nullable(),
    impersonated_by: z.string().nullable(),
    target_type: z.string().nullable(),
    target_id: z.string().nullable(),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry' });

type AuditRow = z.output<typeof auditJson>;

interface AuditQuery {
  readonly page: number;
  readonly perPage: number;
  readonly action?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly target_id?: string | undefined;
  /** The first and the last second. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Returns a page of audit rows, newest first, and how many rows match. */
export async function listAudit(query: Query, wanted: AuditQuery): Promise<{ rows: AuditRow[]; totalItems: number }> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown, condition: (placeholder: string) => string): void => {
    if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
  };
  const { action, actor_id, target_id, since, until } = wanted;
  if (action?.endsWith('.*')) add(action.slice(0, -1), (one) => `starts_with(action, ${one})`);
  else add(action, (one) => `action = ${one}`);
  add(actor_id, (one) => `actor_id = ${one}`);
  add(target_id, (one) => `target_id = ${one}`);
  add(since, (one) => `at >= ${one}`);
  add(until, (one) => `at <= ${one}`);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const [found] = await query<{ rows: AuditRow[]; total: number }>({
    text: `select (select count(*) from system.audit ${where}) as total,
      coalesce((select json_agg(a order by a.at desc, a.id desc) from (
        select id, at, action, actor_type, actor_id, impersonated_by, target_type, target_id, ip, user_agent, details
        from system.audit ${where} order by at desc, id desc
        limit $${values.length + 1} offset $${values.length + 2}) a), '[]') as rows`,
    values: [...values, wanted.perPage, (wanted.page - 1) * wanted.perPage],
  });
  return { rows: found?.rows ?? [], totalItems: found?.total ?? 0 };
}

/** Rows deleted by one statement, so that it does not hold up other work. */
const batchRows = 5000;

/** Deletes rows older than the given days. Returns how many it deleted. */
export async function removeOldAudit(query: Query, days: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const rows = await query({
      text: `delete from system.audit where id in (
          select id from system.audit where at < floor(extract(epoch from now()) - $1::double precision * 86400)::bigint
          order by at limit ${batchRows}
        ) returning id`,
      values: [days],
    });
    removed += rows.length;
    if (rows.length < batchRows) return removed;
  }
}
