import { z } from 'zod';

/** A row of the request log as it is shown (contract §8, Audit). */
export const requestJson = z.object({
  id: z.string(),
  at: z.int().describe('unix seconds at which the request came'),
  method: z.string(),
  path: z.string().describe('without the query'),
  status: z.int(),
  duration_ms: z.number(),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  principal_type: z.enum(['guest', 'user', 'admin']),
  principal_id: z.string().nullable(),
  auth_impersonated_by: z.string().nullable().describe('the admin who acted as the user'),
  request_id: z.string(),
});

export type RequestRow = z.output<typeof requestJson>;

/** A request before it is a row: ids are given when rows are written. */
export type LoggedRequest = Omit<RequestRow, 'id'>;
