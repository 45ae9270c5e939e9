import { isHooked, readerOf, unproved } from '@recordbus/accounts';
import { newId } from '@recordbus/database';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import { AppError, validationFailed } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { makeUser } from '../users/write-user.ts';
import { issueVerification } from '../verification/verification.ts';

/** What a new user sends: `email`, `password`, and fields of the collection. */
export type Registration = Readonly<Record<string, unknown>>;

/**
 * Makes a user of whoever asks, and signs them in. Throws 422 naming everything that is wrong, the password by the
 * policy and the rest as in any new record; 403 when somebody but an admin calls themselves verified.
 * The mail that asks for the proof of the address goes out if it can (interface §5, Email and password).
 */
export async function register(
  parts: AuthParts,
  collection: Collection,
  { password, ...body }: Registration,
  origin: Origin,
): Promise<UserSession> {
  const { settings, passwords, bus } = parts;
  const { context } = origin;
  if (body.verified === true && context.principal.type !== 'admin') throw unproved();
  await checkRegistration(parts, collection, body, password);
  // Before anything is asked of the database, so that a taken address takes no less time.
  const passwordHash = await passwords.hashNew(String(password));
  const session = await makeUser(parts, collection, {
    user: { id: newId(), fields: body, passwordHash },
    context,
    async finish(query, user, collection) {
      if (isMailConfigured(settings) && !user.verified)
        await enqueueMail(query, await issueVerification(query, parts, collection, user));
      return openUserSession(query, parts, { collection, user, origin });
    },
  });
  bus.notify('mail');
  return session;
}

/** Hooks may fill in fields, so these are checked by those who run them. */
async function checkRegistration(
  { passwords, accountHooks }: Pick<AuthParts, 'passwords' | 'accountHooks'>,
  collection: Collection,
  body: Registration,
  password: unknown,
): Promise<void> {
  const problems = new Map<string, unknown>();
  try {
    if (!isHooked(accountHooks, 'create', collection)) readerOf(collection).readNew(body);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    for (const [name, message] of Object.entries(error.details ?? {})) problems.set(name, message);
  }
  if (password === undefined || password === null || password === '') problems.set('password', 'is required');
  else if (typeof password !== 'string') problems.set('password', 'must be a string');
  // Asked again with the breach check when the rest is right: a request that fails anyway asks nobody else.
  else if (problems.size > 0) problems.set('password', (await passwords.findProblem(password)) ?? '');
  if (problems.get('password') === '') problems.delete('password');
  if (problems.size > 0)
    throw validationFailed(Object.fromEntries([...problems].map(([name, message]) => [name, String(message)])));
}
