import { verifyPassword } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import { type GuessLimit, oldPasswordGuesses } from '@recordbus/passwords';
import type { Principal } from '@recordbus/request/context';

/** How long after its sign-in a session is a proof, in seconds (identity §5.2). */
export const recentSignInSec = 10 * 60;

/** The account whose identity changes. */
export interface ProvedAccount {
  readonly id: string;
  /** Null for an account without a password. */
  readonly passwordHash: string | null;
}

/** The caller, and the proof in the request. */
export interface OfferedProof {
  readonly principal: Principal;
  /** The body's `old_password`, of any type. */
  readonly oldPassword: unknown;
}

interface ProofDeps {
  readonly query: Query;
  readonly guessLimit: GuessLimit;
  readonly nowSec: () => number;
}

/**
 * Requires a proof that the caller is the account's holder, and does not only have a session: `old_password`, or for an
 * account without a password a sign-in within the last ten minutes (identity §5.2). It is required to change the
 * address and to switch a second factor off. Throws 403 `proof_required`, and 429 after too many wrong passwords.
 */
export async function requireProof(deps: ProofDeps, account: ProvedAccount, offered: OfferedProof): Promise<void> {
  if (account.passwordHash === null) return requireRecentSignIn(deps, account, offered);
  const problem = await findPasswordProblem(deps, account, offered);
  if (problem) throw proofRequired({ old_password: problem }, 'this change needs the old password');
}

/**
 * Requires a proof like `requireProof`, but accepts a recent sign-in for an account with a password too. It is required
 * to add or remove a way into a signed-in user's account.
 */
export async function requireFreshProof(deps: ProofDeps, account: ProvedAccount, offered: OfferedProof): Promise<void> {
  if (offered.oldPassword === undefined || account.passwordHash === null)
    return requireRecentSignIn(deps, account, offered);
  const problem = await findPasswordProblem(deps, account, offered);
  if (problem) throw proofRequired({ old_password: problem });
}

async function findPasswordProblem({ guessLimit }: ProofDeps, account: ProvedAccount, { oldPassword }: OfferedProof) {
  if (typeof oldPassword !== 'string') return 'is required';
  return (await guessOldPassword(guessLimit, account, oldPassword)) ? undefined : 'is wrong';
}

/** Checks an old password. The guess is counted before the check. Throws 429 after too many wrong ones. */
export async function guessOldPassword(
  guessLimit: GuessLimit,
  { id, passwordHash }: ProvedAccount,
  oldPassword: string,
): Promise<boolean> {
  const guesses = oldPasswordGuesses(id);
  await guessLimit.reserve(guesses);
  if (!(await verifyPassword(passwordHash ?? undefined, oldPassword))) return false;
  await guessLimit.clear(guesses.key);
  return true;
}

/** Throws 403 unless the caller's session began with a sign-in to this account within the last ten minutes. */
async function requireRecentSignIn(
  { query, nowSec }: ProofDeps,
  { id, passwordHash }: ProvedAccount,
  { principal }: OfferedProof,
): Promise<void> {
  if (principal.type === 'user' && principal.id === id && principal.sessionId && !principal.impersonatedBy) {
    const recent = await query({
      text: 'select from system.sessions where id = $1 and account_id = $2 and signed_in_at > $3',
      values: [principal.sessionId, id, nowSec() - recentSignInSec],
    });
    if (recent.length > 0) return;
  }
  throw proofRequired(passwordHash === null ? undefined : { old_password: 'is required, or a new sign-in' });
}

/** 403 for an identity change without a proof. */
export const proofRequired = (
  details?: Readonly<Record<string, string>>,
  message = 'this change needs the old password, or a sign-in within the last 10 minutes',
) => new AppError(403, 'proof_required', message, details ? { details } : {});
