import { unauthenticated, validationFailed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import type { AuthParts } from '../auth-parts.ts';
import type { CallerProof } from '../identity/proof-of-caller.ts';
import { providerProfile } from '../identity/provider-profile.ts';
import { type Enrollment, findEnrollment } from '../second-factors/enrollment.ts';
import { invalidToken } from '../verification/verification.ts';
import { callerProof, text } from './auth-paths.ts';
import { userSession } from './session-schemas.ts';

/** The member with the token, where no bearer token has it (auth §6.10). */
export const enrollmentToken = text.optional().describe('instead of a session: the enrollment_token');

/** What a route that sets up a second factor also answers when it has finished a sign-in. */
export const finishedSignIn = userSession
  .extend({ linked_provider: z.string().optional(), profile: providerProfile.optional() })
  .partial().shape;

/** The user who sets up a second factor: one with a session, or one whose sign-in waits for it. */
export type EnrollingCaller = CallerProof & { readonly enrollment: Enrollment | undefined };

/**
 * The bodies of routes that take an enrollment token. They are read by `readBody` after the caller is known: a caller without
 * a token learns nothing about them.
 */
export const enrollingBody = z.record(z.string(), z.unknown());

interface Input {
  readonly context: RequestContext;
  readonly body: z.output<typeof enrollingBody>;
}

/**
 * Returns the user who sets up a second factor, by session or by enrollment token: a bearer token, or a member of the body.
 * Throws 401 without a valid one, 403 like `callerProof`.
 */
export async function enrollingCaller(
  parts: Pick<AuthParts, 'database' | 'settings' | 'schema' | 'nowSec'>,
  collection: Collection,
  { context, body }: Input,
): Promise<EnrollingCaller> {
  const { principal } = context;
  if (principal.type !== 'guest') return { ...callerProof(collection, { context, body: {} }), enrollment: undefined };
  const token = principal.bearer ?? body.enrollment_token;
  if (typeof token !== 'string') throw unauthenticated();
  const enrollment = await findEnrollment(parts, collection, token);
  if (!enrollment) throw invalidToken();
  return { userId: enrollment.accountId, oldPassword: undefined, context, enrollment };
}

/** Reads a body by its schema. Throws 422 naming each invalid member. */
export function readBody<S extends z.ZodType>(schema: S, body: Input['body']): z.output<S> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  throw validationFailed(describeIssues(read.error, body));
}
