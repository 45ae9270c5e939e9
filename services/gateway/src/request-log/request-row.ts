import { z } from 'zod';

/** A request log row as answers show it (admins §7.1). */
export const requestJson = z
  .object({
    id: z.string(),
    at: z.int().describe('unix seconds at which the request arrived'),
    method: z.string(),
    path: z.string().describe('without the query'),
    status: z.int(),
    duration_ms: z.number(),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    principal_type: z.enum(['guest', 'user', 'admin', 'service']),
    principal_id: z.string().nullable(),
    auth_impersonated_by: z.string().nullable().describe('the admin who acted as the user'),
    request_id: z.string(),
    count: z
      .int()
      .describe(
        'how many refusals in this second and from this address the row stands for; it describes the first one',
      ),
    trace_id: z.string().nullable().describe('the trace, as in W3C `traceparent`; null before this was stored'),
  })
  .meta({ id: 'LoggedRequest' });

export type RequestRow = z.output<typeof requestJson>;

/** A request before its row is written, which gives it an id. */
export type LoggedRequest = Omit<RequestRow, 'id' | 'count'>;

/** A row before it is written: a request, or one second's refusals. */
export type WaitingRow = Omit<RequestRow, 'id'>;
