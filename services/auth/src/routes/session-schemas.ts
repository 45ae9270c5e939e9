import { z } from 'zod';

/** What signing in as an admin answers. */
export const adminSession = z.object({
  token: z.string(),
  admin: z.object({ id: z.string(), email: z.string() }),
});

/** What signing in as a user answers. */
export const userSession = z.object({
  token: z.string(),
  record: z.record(z.string(), z.unknown()).describe('the user as a record'),
});

/** What a first factor answers that is not the last one. */
export const secondFactorWanted = z.object({ mfa_required: z.literal(true), mfa_token: z.string() });

/** One of the sessions of an account. */
export const sessionJson = z.object({
  id: z.string(),
  created_at: z.int().describe('unix seconds'),
  last_used_at: z.int().describe('unix seconds'),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  current: z.boolean().describe('the one that asks'),
});
