import { isHooked, readerOf, readSignUpRequest, verifiedIsForAdmins } from '@recordbus/accounts';
import { newId } from '@recordbus/database';
import { AppError, validationFailed } from '@recordbus/errors';
import { type Collection, withDefaults } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type EnrollmentRequired, openOrEnroll } from '../second-factors/enrollment.ts';
import type { UserSession } from '../sessions/user-sessions.ts';
import { writeNewUser } from '../users/write-user.ts';
import { mailVerification } from '../verification/verification.ts';

/** The body: `email`, `password`, and the collection's fields. */
export type Registration = Readonly<Record<string, unknown>>;

/**
 * Registers a user and signs the user in (auth §3.1). Throws 422 naming everything that is wrong, the password
 * included; 403 for `verified: true` from a caller who is not an admin. With mail configured a verification mail is
 * queued.
 */
export async function register(
  parts: AuthParts,
  collection: Collection,
  { password, ...body }: Registration,
  origin: Origin,
): Promise<UserSession | EnrollmentRequired> {
  const { passwords } = parts;
  const { context } = origin;
  if (body.verified === true && context.principal.type !== 'admin') throw verifiedIsForAdmins();
  await checkRegistration(parts, collection, withDefaults(collection, body, context), password);
  // Before the database is used, so that a taken address takes the same time.
  const passwordHash = await passwords.hashNew(String(password));
  return writeNewUser(parts, collection, {
    user: {
      id: newId(),
      fields: body,
      passwordHash,
      asked: readSignUpRequest(collection, body, origin),
      signsIn: true,
    },
    context,
    async finish(unit, user, collection) {
      await mailVerification(unit, parts, collection, user);
      return openOrEnroll(unit.query, parts, { collection, user, origin, factors: ['password'] });
    },
  });
}

/** Checks the body. Hooks may fill in fields, so the service that runs the hooks checks the fields. */
async function checkRegistration(
  { passwords, accountHooks }: Pick<AuthParts, 'passwords' | 'accountHooks'>,
  collection: Collection,
  body: Registration,
  password: unknown,
): Promise<void> {
  const problems = new Map<string, unknown>();
  try {
    if (!isHooked(accountHooks, 'create', collection)) await readerOf(collection).readNew(body);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    for (const [name, message] of Object.entries(error.details ?? {})) problems.set(name, message);
  }
  if (password === undefined || password === null || password === '') problems.set('password', 'is required');
  else if (typeof password !== 'string') problems.set('password', 'must be a string');
  // `hashNew` checks the password too, so it is checked here only when the request fails anyway.
  else if (problems.size > 0) problems.set('password', (await passwords.findProblem(password)) ?? '');
  if (problems.get('password') === '') problems.delete('password');
  if (problems.size > 0)
    throw validationFailed(Object.fromEntries([...problems].map(([name, message]) => [name, String(message)])));
}
