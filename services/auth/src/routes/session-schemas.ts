import { z } from 'zod';

/** The answer to an admin's sign-in. */
export const adminSession = z
  .object({
    token: z.string(),
    admin: z.object({ id: z.string(), email: z.string() }),
  })
  .meta({ id: 'AdminSession' });

/** The answer to a user's sign-in. */
export const userSession = z
  .object({
    token: z.string(),
    record: z.record(z.string(), z.unknown()).describe('the user as a record'),
  })
  .meta({ id: 'UserSession' });

/** The answer to a first factor that needs a second one (auth §6.3). */
export const secondFactorRequired = z
  .object({
    mfa_required: z.literal(true),
    mfa_token: z.string(),
    factors: z
      .array(z.enum(['email', 'passkey']))
      .optional()
      .describe('what the second step takes instead of the codes of an app; with `email` a code was mailed'),
  })
  .meta({ id: 'SecondFactorRequired' });

/** The answer to a sign-in whose user must set up a second factor first (auth §6.10). */
export const enrollmentRequired = z
  .object({
    mfa_enrollment_required: z.literal(true),
    enrollment_token: z
      .string()
      .describe('sets up an authenticator app or a passkey within 10 minutes, and opens nothing else'),
  })
  .meta({ id: 'EnrollmentRequired' });

/** The answers to a sign-in. */
export const signInAnswer = z.union([userSession, secondFactorRequired, enrollmentRequired]);

/** The answers where a session is opened or renewed without a second step. */
export const sessionOrEnrollment = z.union([userSession, enrollmentRequired]);

/** A session in a list (auth §9.3). */
export const sessionJson = z
  .object({
    id: z.string(),
    created_at: z.int().describe('unix seconds'),
    last_used_at: z.int().describe('unix seconds'),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    current: z.boolean().describe("whether it is the request's session"),
  })
  .meta({ id: 'Session' });
