import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection, ColumnValues } from '@recordbus/schema';
import { AppError, forbidden, validationFailed } from '@recordbus/shared/errors';
import { type AuthParts, type Origin, tellOfWrittenUsers } from '../auth-parts.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { createUser } from '../users/create-user.ts';
import { readerOf } from '../users/record-reader.ts';
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
  const { database, settings, passwords, bus } = parts;
  const { context } = origin;
  if (body.verified === true && context.principal.type !== 'admin')
    throw forbidden('only admins may say that an address is verified');
  const values = await readRegistration(parts, collection, body, password);
  // Before anything is asked of the database, so that a taken address takes no less time.
  const passwordHash = await passwords.hashNew(String(password));
  const session = await database.transaction(async (query) => {
    const user = await createUser(query, parts, collection, { values, passwordHash }, context);
    if (isMailConfigured(settings) && !user.verified)
      await enqueueMail(query, await issueVerification(query, parts, collection, user));
    return openUserSession(query, parts, { collection, user, origin });
  });
  tellOfWrittenUsers(bus);
  bus.notify('mail');
  return session;
}

async function readRegistration(
  { passwords }: Pick<AuthParts, 'passwords'>,
  collection: Collection,
  body: Registration,
  password: unknown,
): Promise<ColumnValues> {
  const problems = new Map<string, unknown>();
  let values: ColumnValues = new Map();
  try {
    values = readerOf(collection).readNew(body);
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
  return values;
}
