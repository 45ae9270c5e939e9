import { newId, type Query } from '@recordbus/database';
import type { RequestRow, WaitingRow } from './request-row.ts';

const columns = {
  id: 'uuid',
  at: 'bigint',
  method: 'text',
  path: 'text',
  status: 'integer',
  duration_ms: 'double precision',
  ip: 'text',
  user_agent: 'text',
  principal_type: 'text',
  principal_id: 'text',
  auth_impersonated_by: 'text',
  request_id: 'text',
  trace_id: 'text',
  count: 'integer',
} as const satisfies Record<keyof RequestRow, string>;

const names = Object.keys(columns) as (keyof RequestRow)[];

/** One parameter per column, a JSON array with its values: half the work that rows as JSON cost, on both sides. */
const insertSql = `insert into system.requests (${names.join(', ')})
  select ${names.map((name) => `${name}::${columns[name]}`).join(', ')}
  from rows from (${names.map((_, index) => `json_array_elements_text($${index + 1}::json)`).join(', ')})
    as given (${names.join(', ')})`;

/** Inserts rows in one statement, in their order. */
export async function insertRequests(query: Query, requests: readonly WaitingRow[]): Promise<void> {
  // One random part for the batch: a separate id for each row would cost more than the rest of the insert.
  const batchId = newId().slice(0, -12);
  const rows = requests.map((request, index) => ({ ...request, id: batchId + index.toString(16).padStart(12, '0') }));
  await query({
    name: 'request-log-insert',
    text: insertSql,
    values: names.map((name) => JSON.stringify(rows.map((row) => row[name]))),
  });
}

/** A list's conditions; a member that is left out matches every row. */
export interface RequestFilter {
  readonly method?: string | undefined;
  /** A path prefix. */
  readonly path?: string | undefined;
  /** The first and the last status. */
  readonly status?: readonly [number, number] | undefined;
  /** Any of these. */
  readonly principal_type?: readonly string[] | undefined;
  readonly principal_id?: string | undefined;
  readonly auth_impersonated_by?: string | undefined;
  readonly request_id?: string | undefined;
  /** The first and the last second. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Whether to skip the count. Then the total is -1. */
  readonly skipTotal?: boolean;
  readonly page: number;
  readonly perPage: number;
}

export interface RequestPage {
  readonly rows: RequestRow[];
  readonly totalItems: number;
}

/** Returns a page of rows, newest first, and the total. */
export async function listRequests(query: Query, filter: RequestFilter): Promise<RequestPage> {
  const { page, perPage } = filter;
  const { conditions, values } = conditionsOf(filter);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const [found] = await query<{ rows: RequestRow[]; total: number }>({
    text: `select ${filter.skipTotal ? '-1' : `(select count(*) from system.requests ${where})`} as total,
      coalesce((select json_agg(r order by r.at desc, r.id desc) from (
        select * from system.requests ${where} order by at desc, id desc
        limit $${values.length + 1} offset $${values.length + 2}) r), '[]') as rows`,
    values: [...values, perPage, (page - 1) * perPage],
  });
  return { rows: found?.rows ?? [], totalItems: found?.total ?? 0 };
}

function conditionsOf(filter: RequestFilter): { conditions: string[]; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown, condition: (placeholder: string) => string): void => {
    if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
  };
  for (const column of ['method', 'principal_id', 'auth_impersonated_by', 'request_id'] as const)
    add(filter[column], (placeholder) => `${column} = ${placeholder}`);
  add(filter.principal_type, (placeholder) => `principal_type = any(${placeholder}::text[])`);
  add(filter.path, (placeholder) => `starts_with(path, ${placeholder})`);
  add(filter.status?.[0], (placeholder) => `status >= ${placeholder}`);
  add(filter.status?.[1], (placeholder) => `status <= ${placeholder}`);
  add(filter.since, (placeholder) => `at >= ${placeholder}`);
  add(filter.until, (placeholder) => `at <= ${placeholder}`);
  return { conditions, values };
}

/** Creates a day's table (YYYY-MM-DD, UTC) unless it exists. */
export async function ensureRequestDay(query: Query, day: string): Promise<void> {
  await query({ text: 'select system.ensure_request_day($1::date)', values: [day] });
}

/** Drops the days before the given one (YYYY-MM-DD, UTC) and returns them. Throws when a day is in use (55P03). */
export async function dropRequestDays(query: Query, firstKept: string): Promise<string[]> {
  const old = await query<{ day: string }>({
    text: `select distinct to_date(substr(relname, 10, 8), 'YYYYMMDD')::text as day
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'system.requests'::regclass and substr(relname, 10, 8) < to_char($1::date, 'YYYYMMDD')
      order by day`,
    values: [firstKept],
  });
  const dropped: string[] = [];
  for (const { day } of old) {
    const [row] = await query<{ done: boolean }>({
      text: 'select system.drop_request_day($1::date) as done',
      values: [day],
    });
    if (row?.done) dropped.push(day);
  }
  return dropped;
}

/**
 * Drops the oldest rows while the log has more than about `maxBytes`, indexes included. Returns how many partitions it
 * dropped. Throws when one is in use (55P03).
 */
export async function boundRequests(query: Query, maxBytes: number): Promise<number> {
  const [row] = await query<{ dropped: number }>({
    text: 'select system.bound_requests($1::bigint) as dropped',
    values: [maxBytes],
  });
  return row?.dropped ?? 0;
}
