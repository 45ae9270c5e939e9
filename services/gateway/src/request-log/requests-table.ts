import { newId, type Query } from '@recordbus/database';
import type { LoggedRequest, RequestRow } from './request-row.ts';

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
} as const satisfies Record<keyof RequestRow, string>;

const names = Object.keys(columns) as (keyof RequestRow)[];

/** A parameter for each column with its values as JSON: half the work of rows as JSON, on both sides. */
const insertSql = `insert into system.requests (${names.join(', ')})
  select ${names.map((name) => `${name}::${columns[name]}`).join(', ')}
  from rows from (${names.map((_, index) => `json_array_elements_text($${index + 1}::json)`).join(', ')})
    as given (${names.join(', ')})`;

/** Writes rows in one statement, in their order. */
export async function insertRequests(query: Query, requests: readonly LoggedRequest[]): Promise<void> {
  // An id of its own for each row would cost more than all the rest of it.
  const batchId = newId().slice(0, -12);
  const rows = requests.map((request, index) => ({ ...request, id: batchId + index.toString(16).padStart(12, '0') }));
  await query({
    name: 'request-log-insert',
    text: insertSql,
    values: names.map((name) => JSON.stringify(rows.map((row) => row[name]))),
  });
}

/** Which rows are wanted; what is left out is not asked. */
export interface WantedRequests {
  readonly method?: string | undefined;
  /** The path begins with it. */
  readonly path?: string | undefined;
  /** The first and the last status. */
  readonly status?: readonly [number, number] | undefined;
  readonly principal_type?: string | undefined;
  readonly principal_id?: string | undefined;
  readonly auth_impersonated_by?: string | undefined;
  readonly request_id?: string | undefined;
  /** The first and the last second. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly page: number;
  readonly perPage: number;
}

export interface RequestPage {
  readonly rows: RequestRow[];
  readonly totalItems: number;
}

/** A page of the rows, the newest first, and how many there are in all. */
export async function listRequests(query: Query, wanted: WantedRequests): Promise<RequestPage> {
  const { page, perPage } = wanted;
  const { conditions, values } = conditionsOf(wanted);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const [found] = await query<{ rows: RequestRow[]; total: number }>({
    text: `select (select count(*) from system.requests ${where}) as total,
      coalesce((select json_agg(r order by r.at desc, r.id desc) from (
        select * from system.requests ${where} order by at desc, id desc
        limit $${values.length + 1} offset $${values.length + 2}) r), '[]') as rows`,
    values: [...values, perPage, (page - 1) * perPage],
  });
  return { rows: found?.rows ?? [], totalItems: found?.total ?? 0 };
}

function conditionsOf(wanted: WantedRequests): { conditions: string[]; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown, condition: (placeholder: string) => string): void => {
    if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
  };
  for (const column of ['method', 'principal_type', 'principal_id', 'auth_impersonated_by', 'request_id'] as const)
    add(wanted[column], (placeholder) => `${column} = ${placeholder}`);
  add(wanted.path, (placeholder) => `starts_with(path, ${placeholder})`);
  add(wanted.status?.[0], (placeholder) => `status >= ${placeholder}`);
  add(wanted.status?.[1], (placeholder) => `status <= ${placeholder}`);
  add(wanted.since, (placeholder) => `at >= ${placeholder}`);
  add(wanted.until, (placeholder) => `at <= ${placeholder}`);
  return { conditions, values };
}

/** Makes the table of a day (YYYY-MM-DD, UTC) if it is not there. */
export async function ensureRequestDay(query: Query, day: string): Promise<void> {
  await query({ text: 'select system.ensure_request_day($1::date)', values: [day] });
}

/** Drops the days before the given one (YYYY-MM-DD, UTC) and gives them. Throws when a day is in use (55P03). */
export async function dropRequestDays(query: Query, firstKept: string): Promise<string[]> {
  const old = await query<{ day: string }>({
    text: `select to_date(right(relname, 8), 'YYYYMMDD')::text as day
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'system.requests'::regclass and right(relname, 8) < to_char($1::date, 'YYYYMMDD')
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
