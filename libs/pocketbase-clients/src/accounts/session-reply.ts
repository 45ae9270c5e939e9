import type { Collection } from '@recordbus/schema';
import { superusersId } from '../catalog.ts';
import type { Exchange, Reply } from '../exchange.ts';
import { dataOf, isObject, isSuccess, type JsonAnswer, type JsonObject } from '../product.ts';
import { pickFields } from '../records/pick-fields.ts';
import { readExpand } from '../records/read-expand.ts';
import { toRecord } from '../records/to-record.ts';
import { toGeneralRefusal } from '../records/to-refusal.ts';
import { Refusal } from '../refusal.ts';

const failed = () => new Refusal(400, 'Failed to authenticate.');

/** The sign-in rule refuses the account, or an admin has blocked it. */
const refused = () => new Refusal(403, 'The request requires an account that may sign in.');

/**
 * The answer to a sign-in of any kind: `{token, record}`, or 401 with `mfaId` if the account needs a second factor, or
 * 403 if it must set one up. With `keepsToken` it has the request's token.
 */
export async function sessionReply(
  exchange: Exchange,
  collection: Collection,
  answer: JsonAnswer,
  { meta, keepsToken = false }: { readonly meta?: JsonObject | undefined; readonly keepsToken?: boolean } = {},
): Promise<Reply> {
  if (!isSuccess(answer)) throw toGeneralRefusal(answer) ?? (answer.status === 403 ? refused() : failed());
  const { token, record, mfa_token: mfaId, enrollment_token: enrollmentToken } = dataOf(answer);
  if (typeof mfaId === 'string') return { status: 401, body: { mfaId } };
  if (typeof enrollmentToken === 'string') return enrollmentReply(enrollmentToken);
  if (typeof token !== 'string' || !isObject(record)) throw failed();
  const { catalog, request } = exchange;
  const expand = await readExpand(exchange, collection, { id: record.id, paths: request.query.get('expand'), token });
  const body = {
    token: keepsToken ? request.token : await exchange.withClaims(token, catalog.idOf(collection)),
    record: { ...toRecord(catalog, collection, record), ...expand },
    ...(meta && { meta }),
  };
  return { status: 200, body: pickFields(body, request.query.get('fields')) };
}

/**
 * The answer to a user who must set up a second factor first (auth §6.10). PocketBase has no such state: a client takes a 200
 * for a session, so it is a refusal, with the token for an app that knows it.
 */
const enrollmentReply = (token: string): Reply => ({
  status: 403,
  body: {
    status: 403,
    message: 'Set up a second factor to sign in.',
    data: {},
    mfa_enrollment_required: true,
    enrollment_token: token,
  },
});

/** The answer to an admin's sign-in. */
export async function adminReply(exchange: Exchange, answer: JsonAnswer): Promise<Reply> {
  if (!isSuccess(answer)) throw toGeneralRefusal(answer) ?? failed();
  const { token, admin, mfa_token: mfaId } = dataOf(answer);
  if (typeof mfaId === 'string') return { status: 401, body: { mfaId } };
  if (typeof token !== 'string' || !isObject(admin)) throw failed();
  const record = {
    collectionId: superusersId,
    collectionName: '_superusers',
    id: admin.id,
    email: admin.email,
    emailVisibility: false,
    verified: true,
  };
  return { status: 200, body: { token: await exchange.withClaims(token, superusersId), record } };
}
