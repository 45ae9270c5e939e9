import type { Collection } from '@recordbus/schema';
import { claimsOf, type Exchange, type Reply, saysCollection } from '../exchange.ts';
import { isSuccess, isSwitchedOff, type JsonAnswer } from '../product.ts';
import { memberRefusals, toGeneralRefusal } from '../records/to-refusal.ts';
import { invalid, type MemberRefusal, type MemberRefusals, mismatch, needsToken, Refusal } from '../refusal.ts';
import { noPasswords, otherAccount, post, readAddress, readRequired } from './requests.ts';

/** `request-password-reset` and `request-verification`: the answer is the same for an unknown address. */
export async function requestMail(exchange: Exchange, collection: Collection, route: string): Promise<Reply> {
  const answer = await post(exchange, collection, route, { email: await readAddress(exchange) });
  if (isSwitchedOff(answer)) throw new Refusal(400, noPasswords);
  const refusal = toGeneralRefusal(answer);
  if (refusal) throw refusal;
  return { status: 204 };
}

/** `request-email-change`. PocketBase's clients send the password with the confirmation. */
export async function requestAddress(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { newEmail, oldPassword } = await readRequired(exchange, ['newEmail']);
  const proof = oldPassword === undefined ? { prove_later: true } : { old_password: oldPassword };
  const answer = await post(exchange, collection, 'request-email-change', { email: newEmail, ...proof });
  if (answer.status === 401) throw needsToken();
  if (!isSuccess(answer)) {
    if (!saysCollection(exchange, collection)) throw otherAccount(collection.name);
    const { email } = memberRefusals(answer.json.details);
    throw (
      toGeneralRefusal(answer) ??
      (email === undefined ? new Refusal(400, 'Failed to request email change.') : invalid({ newEmail: email }))
    );
  }
  return { status: 204 };
}

const wrongPassword = { code: 'validation_invalid_password', message: 'Missing or invalid auth record password.' };

interface RefusedProof {
  readonly token: unknown;
  readonly kind: 'verification' | 'passwordReset' | 'emailChange';
}

/**
 * Says what is wrong with a proof that the product has refused. One that PocketBase has mailed says what it was for: nothing
 * but the code depends on it.
 */
function wrongToken({ catalog }: Exchange, collection: Collection, { token, kind }: RefusedProof): MemberRefusal {
  const { type, collectionId, email, newEmail, exp } = claimsOf({ token: String(token) });
  if (kind === 'verification' && !email)
    return { code: 'validation_invalid_token_claims', message: 'Missing email token claim.' };
  if (kind === 'emailChange' && !newEmail)
    return { code: 'validation_invalid_token_payload', message: 'Invalid token payload - newEmail must be set.' };
  const lasts = typeof exp === 'number' && exp > Date.now() / 1000;
  if (type === kind && lasts && typeof collectionId === 'string' && collectionId !== catalog.idOf(collection))
    return {
      code: 'validation_token_collection_mismatch',
      message: 'The provided token is for different auth collection.',
    };
  return { code: 'validation_invalid_token', message: 'Invalid or expired token.' };
}

/** `confirm-password-reset`. */
export async function confirmReset(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { token, password, passwordConfirm } = await readRequired(exchange, ['token', 'password', 'passwordConfirm']);
  if (password !== passwordConfirm) throw invalid({ passwordConfirm: mismatch });
  const answer = await post(exchange, collection, 'confirm-password-reset', { token, password });
  return confirmed(answer, () => wrongToken(exchange, collection, { token, kind: 'passwordReset' }));
}

/** `confirm-verification`. */
export async function confirmVerification(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { token } = await readRequired(exchange, ['token']);
  const answer = await post(exchange, collection, 'verify-email', { token });
  return confirmed(answer, () => wrongToken(exchange, collection, { token, kind: 'verification' }));
}

/** `confirm-email-change`. */
export async function confirmAddress(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { token, password } = await readRequired(exchange, ['token', 'password']);
  const answer = await post(exchange, collection, 'confirm-email-change', { token, password });
  if (answer.status === 403) throw invalid({ password: wrongPassword });
  return confirmed(answer, () => wrongToken(exchange, collection, { token, kind: 'emailChange' }));
}

function confirmed(answer: JsonAnswer, explain: () => MemberRefusal): Reply {
  if (isSuccess(answer)) return { status: 204 };
  const members: MemberRefusals = answer.status === 401 ? { token: explain() } : memberRefusals(answer.json.details);
  throw toGeneralRefusal(answer) ?? invalid(members);
}
