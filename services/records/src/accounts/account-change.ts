import { verifyPassword } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { oldPasswordGuesses } from '@recordbus/passwords';
import { createParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { forbidden, validationFailed } from '@recordbus/shared/errors';
import { isRecordId } from '../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import type { Unwritten } from '../write/written-record.ts';
import type { AccountRules } from './account-rules.ts';

type Body = Readonly<Record<string, unknown>>;

/** What a change of a user says beside the fields. */
export interface AccountChange {
  /** The fields. */
  readonly body: Body;
  /** Of a new password; with it all tokens so far end. */
  readonly passwordHash: string | undefined;
  /** The hash that the old password was compared with: nothing is written over another one. */
  readonly oldPasswordHash: string | undefined;
  /** Does another address have to be proved anew? */
  readonly clearsVerified: boolean;
}

interface Given {
  readonly id: string;
  readonly body: Body;
}

/**
 * Reads the body of a PATCH in an auth collection (contract §2). A password needs the old one, unless an admin sets it;
 * `verified` is the admins', unchanged it is accepted from anyone. The update rule is asked before a password is looked
 * at, so that nobody can guess at those of others. Throws 403 and 422, and 429 after too many wrong old
 * passwords; gives why nothing can be written.
 */
export async function readAccountChange(
  query: Query,
  { passwords, guessLimit }: AccountRules,
  collection: Collection,
  given: Given,
  asking: Asking,
): Promise<AccountChange | Unwritten> {
  refuseNonHolder(asking.principal, given);
  const {
    id,
    body: { password, old_password, verified, ...body },
  } = given;
  const isAdmin = asking.principal.type === 'admin';
  const change = { body, passwordHash: undefined, oldPasswordHash: undefined, clearsVerified: !isAdmin };
  if (isAdmin && verified !== undefined) change.body = { ...body, verified };
  const needsStored = password !== undefined || (!isAdmin && verified !== undefined);
  if (!needsStored) return change;

  const stored = await findStored(query, collection, id, asking);
  if (!stored) return { outcome: 'missing' };
  if (!stored.isAllowed) return { outcome: 'refused' };
  if (!isAdmin && verified !== undefined && verified !== stored.verified)
    throw forbidden('only admins may say that an address is verified');
  if (password === undefined) return change;

  if (typeof password !== 'string') throw validationFailed({ password: 'must be a string' });
  if (isAdmin) return { ...change, passwordHash: await passwords.hashNew(password) };
  if (typeof old_password !== 'string') throw validationFailed({ old_password: 'is required' });
  const guesses = oldPasswordGuesses(id);
  await guessLimit.reserve(guesses);
  const oldPasswordHash = stored.passwordHash ?? undefined;
  if (!(await verifyPassword(oldPasswordHash, old_password))) throw wrongOldPassword();
  await guessLimit.clear(guesses.key);
  return { ...change, passwordHash: await passwords.hashNew(password), oldPasswordHash };
}

/**
 * What opens an account is not for an admin who acts as its user, and an anonymous user gets it by being promoted; an
 * address that stays as it is may be sent. Throws 403.
 */
function refuseNonHolder(principal: Principal, { id, body }: Given): void {
  if (principal.type !== 'user' || principal.id !== id) return;
  if (body.password === undefined && (body.email === undefined || body.email === principal.email)) return;
  if (principal.impersonatedBy)
    throw forbidden('an address or a password is not for an admin who acts as the user', 'impersonated');
  if (principal.anonymous) throw forbidden('an anonymous user gets an address and a password by being promoted');
}

/** 422 for an old password that is not the one that the account has, or has any more. */
export const wrongOldPassword = () => validationFailed({ old_password: 'is wrong' });

interface Stored {
  readonly verified: boolean;
  readonly passwordHash: string | null;
  readonly isAllowed: boolean;
}

async function findStored(
  query: Query,
  collection: Collection,
  id: string,
  { principal, schema, request }: Asking,
): Promise<Stored | undefined> {
  if (!isRecordId(id)) return undefined;
  const parameters = createParameters(2);
  const rule = isAsked(collection, 'update', principal)
    ? `(${compileRule(collection, 'update', schema, { row: 't', stored: 't', parameters })}) is true`
    : 'true';
  const [stored] = await query<Stored>({
    text: `select t.verified, t.password_hash as "passwordHash", ${rule} as "isAllowed"
      from ${tableOf(collection)} t where t.id = $1::text`,
    values: [id, ...parameters.values(request)],
  });
  return stored;
}
