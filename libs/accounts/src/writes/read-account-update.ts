import type { Query } from '@recordbus/database';
import { AppError, forbidden, validationFailed } from '@recordbus/errors';
import type { GuessLimit, PasswordRules } from '@recordbus/passwords';
import { createNamedParameters, type RequestValues, type SqlTarget } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { type Collection, canonicalAddress, tableOf } from '@recordbus/schema';
import { guessOldPassword, proofRequired, requireProof } from '../identity/require-proof.ts';
import { readerOf } from '../user.ts';
import { findProblems, verifiedIsForAdmins } from './read-new-account.ts';

/** What writes of credentials are checked against. */
export interface AccountRules {
  readonly passwords: PasswordRules;
  readonly guessLimit: GuessLimit;
  /** The time in unix seconds. */
  readonly nowSec: () => number;
}

/** Who updates an account, and how the update rule reads. */
export interface AccountCaller {
  readonly principal: Principal;
  /** What rules read of the request. */
  readonly request: RequestValues;
  /** Whether the caller passes every rule, as admins do. */
  readonly passesRules: boolean;
  /** SQL of the update rule on a row; undefined if it need not be checked. */
  readonly updateRule: ((into: SqlTarget) => string) | undefined;
}

type Body = Readonly<Record<string, unknown>>;

/** An update of an account: the fields, and what only accounts have. */
export interface AccountUpdate {
  /** The changed fields. */
  readonly body: Body;
  /** A new password's hash, which ends all earlier tokens. */
  readonly passwordHash: string | undefined;
  /** The state that the proof was checked against. Nothing is written when it has changed since. */
  readonly expected: { readonly passwordHash: string | undefined; readonly email: string | undefined };
  /** The refusal when `expected` has changed. */
  readonly staleProofError: (() => AppError) | undefined;
  /** Whether a new address clears `verified`. */
  readonly clearsVerified: boolean;
}

interface UpdateRequest {
  readonly id: string;
  readonly body: Body;
}

/**
 * Reads a PATCH body in an auth collection (records §12.2, §12.3, §12.4). The update rule is checked before the old
 * password, so no caller can guess other accounts' passwords. Throws 403 and 422, and 429 after too many wrong
 * passwords. Returns a failure when nothing can be written.
 */
export async function readAccountUpdate(
  query: Query,
  { passwords, guessLimit, nowSec }: AccountRules,
  collection: Collection,
  given: UpdateRequest,
  caller: AccountCaller,
): Promise<AccountUpdate | { readonly outcome: 'missing' | 'refused' }> {
  const { principal, passesRules: isAdmin } = caller;
  if (!isAdmin) refuseNonHolder(principal, given);
  const { id } = given;
  const { password, old_password: oldPassword, verified, ...body } = given.body;
  if (isAdmin) {
    const fields = verified === undefined ? body : { ...body, verified };
    if (password === undefined) return { ...withoutProof, body: fields };
    const missing = await findStored(query, collection, { id, email: null }, caller);
    if (!missing) return { outcome: 'missing' };
    const passwordHash = await passwords.hashNew(textOf(password)).catch(async (error: unknown) => {
      throw await withFieldProblems(error, () => readerOf(collection).readChange(fields));
    });
    return { ...withoutProof, body: fields, passwordHash };
  }

  // The body's reader refuses a value of another type.
  const email = typeof body.email === 'string' ? body.email : null;
  // The caller's address may be slightly out of date. With a password, the stored address is compared instead.
  const isOwn = principal.type === 'user' && principal.id === id && principal.email === email;
  const keepsEmail = email === null || (isOwn && oldPassword === undefined);
  const change = { ...withoutProof, body, clearsVerified: true };
  if (password === undefined && verified === undefined && keepsEmail)
    return {
      ...change,
      expected: { passwordHash: undefined, email: email ?? undefined },
      staleProofError: proofRequired,
    };

  const wanted = email === null ? null : canonicalAddress(email);
  const stored = await findStored(query, collection, { id, email: wanted }, caller);
  if (!stored) return { outcome: 'missing' };
  if (!stored.isAllowed) return { outcome: 'refused' };
  if (verified !== undefined && verified !== stored.verified) throw verifiedIsForAdmins();
  const account = { id, passwordHash: stored.passwordHash };
  const expected = { passwordHash: stored.passwordHash ?? undefined, email: email === null ? undefined : stored.email };
  if (password !== undefined) {
    const next = textOf(password);
    if (typeof oldPassword !== 'string') throw validationFailed({ old_password: 'is required' });
    if (!(await guessOldPassword(guessLimit, account, oldPassword))) throw wrongOldPassword();
    return { ...change, expected, staleProofError: wrongOldPassword, passwordHash: await passwords.hashNew(next) };
  }
  if (!stored.isNewEmail)
    return { ...change, expected: { ...expected, passwordHash: undefined }, staleProofError: proofRequired };
  // An invalid address is refused before a password guess is counted.
  await readerOf(collection).readChange({ email });
  await requireProof({ query, guessLimit, nowSec }, account, { principal, oldPassword });
  return { ...change, expected, staleProofError: proofRequired };
}

/** Adds the fields' problems to a refused password. */
async function withFieldProblems(error: unknown, read: () => Promise<unknown>): Promise<unknown> {
  if (!(error instanceof AppError) || error.status !== 422) return error;
  const { password } = error.details ?? {};
  return validationFailed({ ...(await findProblems(read)), password: String(password ?? error.message) });
}

/** The members for a change that needs no proof. */
const withoutProof = {
  passwordHash: undefined,
  expected: { passwordHash: undefined, email: undefined },
  staleProofError: undefined,
  clearsVerified: false,
};

function textOf(password: unknown): string {
  if (typeof password !== 'string') throw validationFailed({ password: 'must be a string' });
  return password;
}

/**
 * Throws 403 when an admin who acts as the user, or an anonymous user, changes the address or password (records §12.5).
 * An unchanged address is accepted.
 */
function refuseNonHolder(principal: Principal, { id, body }: UpdateRequest): void {
  if (principal.type !== 'user' || principal.id !== id) return;
  if (body.password === undefined && (body.email === undefined || body.email === principal.email)) return;
  if (principal.impersonatedBy)
    throw forbidden('an admin who acts as the user cannot change the address or the password', 'impersonated');
  if (principal.anonymous) throw forbidden('an anonymous user gets an address and a password by promotion');
}

/** 422 for an old password that is wrong, or was changed meanwhile. */
const wrongOldPassword = () => validationFailed({ old_password: 'is wrong' });

interface Stored {
  readonly email: string;
  readonly verified: boolean;
  readonly passwordHash: string | null;
  /** Whether the body's address is another one, ignoring case. */
  readonly isNewEmail: boolean;
  readonly isAllowed: boolean;
}

async function findStored(
  query: Query,
  collection: Collection,
  { id, email }: { readonly id: string; readonly email: string | null },
  { request, updateRule }: AccountCaller,
): Promise<Stored | undefined> {
  const parameters = createNamedParameters<{ readonly id: string; readonly email: string | null }>();
  const place = { row: 't', stored: 't', parameters, isTable: true };
  const rule = updateRule ? `(${updateRule(place)}) is true` : 'true';
  const [stored] = await query<Stored>({
    text: `select t.email, t.verified, t.password_hash as "passwordHash", ${rule} as "isAllowed",
        coalesce(lower(t.email) <> lower(${parameters.named('email', 'text')}), false) as "isNewEmail"
      from ${tableOf(collection)} t where t.id = ${parameters.named('id', 'text')}`,
    checksRule: updateRule !== undefined,
    values: parameters.valuesFrom({ id, email }, request),
  });
  return stored;
}
