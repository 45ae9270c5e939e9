import type { PasswordRules } from '@recordbus/passwords';
import type { Collection, RecordReader } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { AppError, forbidden, validationFailed } from '@recordbus/shared/errors';

type Body = Readonly<Record<string, unknown>>;

/** The body of a new user without the credentials, and what is stored of those. */
interface NewAccount {
  readonly body: Body;
  /** Null for a user whom no password signs in: admins may make one. */
  readonly passwordHash: string | null;
}

/**
 * Reads the body of a create in an auth collection (contract §2). Throws 403 when somebody but an admin says that an
 * address is verified, 422 naming everything that is wrong with the fields and the password.
 */
export async function readNewAccount(
  passwords: PasswordRules,
  { password, ...body }: Body,
  principal: Principal,
  reader: RecordReader,
): Promise<NewAccount> {
  const isAdmin = principal.type === 'admin';
  if (body.verified === true && !isAdmin) throw forbidden('only admins may say that an address is verified');
  const problems = { ...findProblems(() => reader.readNew(body)), ...(await findPasswordProblem()) };
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
  return { body, passwordHash: typeof password === 'string' ? await passwords.hashNew(password) : null };

  async function findPasswordProblem(): Promise<Record<string, string>> {
    if (password === undefined) return isAdmin ? {} : { password: 'is required' };
    if (typeof password !== 'string') return { password: 'must be a string' };
    const problem = await passwords.findProblem(password);
    return problem ? { password: problem } : {};
  }
}

function findProblems(read: () => unknown): Record<string, string> {
  try {
    read();
    return {};
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return Object.fromEntries(Object.entries(error.details ?? {}).map(([name, message]) => [name, String(message)]));
  }
}

/** Has the collection accounts, which are written with more than their fields? */
export const hasAccounts = ({ type }: Collection): boolean => type === 'auth';
