import { AppError, forbidden, refusedMembers, validationFailed } from '@recordbus/errors';
import type { PasswordRules } from '@recordbus/passwords';
import type { RecordReader } from '@recordbus/schema';

type Body = Readonly<Record<string, unknown>>;

/** A new user: the body without the password, and the hash to store. */
interface NewAccount {
  readonly body: Body;
  /** Null for a user without a password, whom only admins create. */
  readonly passwordHash: string | null;
}

/**
 * Reads a create's body in an auth collection (records §12.1). Throws 403 when a caller who is not an admin sets
 * `verified`, and 422 naming every problem in the fields and the password.
 */
export async function readNewAccount(
  passwords: PasswordRules,
  { password, ...body }: Body,
  reader: RecordReader,
  isAdmin: boolean,
): Promise<NewAccount> {
  if (body.verified === true && !isAdmin) throw verifiedIsForAdmins();
  const problems = { ...(await findProblems(() => reader.readNew(body))), ...(await findPasswordProblem()) };
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
  return { body, passwordHash: typeof password === 'string' ? await passwords.hashNew(password) : null };

  async function findPasswordProblem(): Promise<Record<string, string>> {
    if (password === undefined) return isAdmin ? {} : { password: 'is required' };
    if (typeof password !== 'string') return { password: 'must be a string' };
    const problem = await passwords.findProblem(password);
    return problem ? { password: problem } : {};
  }
}

/** Returns the problems for which a body is refused, by field; none if it is read. */
export async function findProblems(read: () => Promise<unknown>): Promise<Record<string, string>> {
  try {
    await read();
    return {};
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return Object.fromEntries(Object.entries(error.details ?? {}).map(([name, message]) => [name, String(message)]));
  }
}

/** The 403 for a caller who sets `verified` and is not an admin. */
export const verifiedIsForAdmins = () =>
  refusedMembers(forbidden('only admins may mark an address as verified'), ['verified']);
