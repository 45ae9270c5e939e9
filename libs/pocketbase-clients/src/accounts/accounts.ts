import type { Collection } from '@recordbus/schema';
import {
  accountsOf,
  claimsOf,
  type Exchange,
  isAdminsOnly,
  type Reply,
  readJson,
  saysAdmin,
  saysCollection,
  segment,
} from '../exchange.ts';
import { callForJson, dataOf, isSuccess, isSwitchedOff } from '../product.ts';
import { recordsPath } from '../records/read-expand.ts';
import { toGeneralRefusal } from '../records/to-refusal.ts';
import { invalid, needsToken, notFound, Refusal } from '../refusal.ts';
import { serveAuthMethods } from './auth-methods.ts';
import { serveOAuth } from './oauth.ts';
import { confirmAddress, confirmReset, confirmVerification, requestAddress, requestMail } from './proofs.ts';
import { noPasswords, otherAccount, post, readAddress, readRequired } from './requests.ts';
import { adminReply, sessionReply } from './session-reply.ts';

/** Serves an auth collection's route. */
type ServeAccounts = (exchange: Exchange, collection: Collection) => Promise<Reply>;

/** `collections/{collection}/{route}`, by method and route. */
const routes: Readonly<Record<string, ServeAccounts>> = {
  'GET auth-methods': serveAuthMethods,
  'POST auth-with-password': signInWithPassword,
  'POST auth-with-oauth2': serveOAuth,
  'POST auth-with-otp': signInWithCode,
  'POST auth-refresh': refresh,
  'POST request-otp': requestCode,
  'POST request-password-reset': (exchange, collection) => requestMail(exchange, collection, 'request-password-reset'),
  'POST confirm-password-reset': confirmReset,
  'POST request-verification': (exchange, collection) => requestMail(exchange, collection, 'request-verify-of'),
  'POST confirm-verification': confirmVerification,
  'POST request-email-change': requestAddress,
  'POST confirm-email-change': confirmAddress,
};

/** Routes about the caller's own account, whose token PocketBase asks for before anything else. */
const ownRoutes: ReadonlySet<string> = new Set(['POST auth-refresh', 'POST request-email-change']);

/** Serves a route of an auth collection, or of `_superusers`. */
export async function serveAccounts(exchange: Exchange, name: string, route: string): Promise<Reply> {
  const key = `${exchange.request.method} ${route}`;
  if (isAdminsOnly(name)) return serveAdmins(exchange, key);
  const serve = Object.hasOwn(routes, key) ? routes[key] : undefined;
  if (!serve) throw new Refusal(404, 'File not found.');
  if (ownRoutes.has(key)) {
    if (exchange.request.token === undefined) throw needsToken();
    if (exchange.catalog.find(name)?.type === 'base') throw otherAccount(name);
  }
  return serve(exchange, accountsOf(exchange, name));
}

async function serveAdmins(exchange: Exchange, key: string): Promise<Reply> {
  const { call, request } = exchange;
  if (key === 'POST auth-with-password') {
    const { identity, password } = await readRequired(exchange, ['identity', 'password']);
    const body = { email: identity, password };
    return adminReply(exchange, await callForJson(call, { method: 'POST', path: '/api/v1/admin/login', body }));
  }
  if (key !== 'POST auth-refresh') throw new Refusal(404, 'File not found.');
  if (!saysAdmin(request)) throw needsToken();
  return adminReply(exchange, await callForJson(call, { method: 'POST', path: '/api/v1/auth/refresh' }));
}

async function signInWithPassword(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { identity, identityField, password } = await readRequired(exchange, ['identity', 'password']);
  if (identityField && !exchange.accounts.identityFieldsOf(collection).includes(String(identityField)))
    throw invalid({ identityField: { code: 'validation_in_invalid', message: 'Must be a valid value.' } });
  const named = identityField ? { identity, identity_field: identityField } : { identity };
  const answer = await post(exchange, collection, 'login', { ...named, password });
  if (isSwitchedOff(answer)) throw new Refusal(403, noPasswords);
  return sessionReply(exchange, collection, answer);
}

async function refresh(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { request, call } = exchange;
  if (request.token === undefined) throw needsToken();
  if (saysAdmin(request)) throw otherAccount(collection.name);
  const answer = await callForJson(call, { method: 'POST', path: '/api/v1/auth/refresh' });
  if (answer.status === 401) throw needsToken();
  if (isSuccess(answer) && !saysCollection(exchange, collection)) throw otherAccount(collection.name);
  // PocketBase returns such a token as it is.
  return sessionReply(exchange, collection, answer, { keepsToken: claimsOf(request).refreshable === false });
}

/** A code's request is found again by the address, so its id is the address: nothing is stored, and nothing is revealed. */
const codeId = (email: string): string => Buffer.from(email).toString('base64url');

async function requestCode(exchange: Exchange, collection: Collection): Promise<Reply> {
  const email = await readAddress(exchange);
  const { takes, mailsFactors } = exchange.accounts;
  // The code for the second step was mailed by itself.
  if (!takes(collection, 'otp') && mailsFactors(collection))
    return { status: 200, body: { otpId: codeId(String(email)) } };
  const answer = await post(exchange, collection, 'otp/request', { email });
  if (!isSuccess(answer))
    throw toGeneralRefusal(answer) ?? new Refusal(403, 'The collection is not configured to allow OTP authentication.');
  return { status: 200, body: { otpId: codeId(email) } };
}

async function signInWithCode(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { otpId, password: code, mfaId } = await readRequired(exchange, ['otpId', 'password']);
  // The second factor is an authenticator app's code, or a mailed one.
  if (mfaId !== undefined)
    return sessionReply(
      exchange,
      collection,
      await post(exchange, collection, 'login/mfa', { mfa_token: mfaId, code }),
    );
  const email = Buffer.from(String(otpId), 'base64url').toString();
  return sessionReply(exchange, collection, await post(exchange, collection, 'otp/auth', { email, code }));
}

const tooShort = { code: 'validation_min_greater_equal_than_required', message: 'Must be no less than 0.' };

/** `collections/{collection}/impersonate/{id}`. The product decides how long the token lasts. */
export async function serveImpersonation(exchange: Exchange, name: string, id: string): Promise<Reply> {
  const collection = accountsOf(exchange, name);
  const { duration = 0 } = await readJson(exchange.request);
  if (typeof duration === 'number' && duration < 0) throw invalid({ duration: tooShort });
  const path = `/api/v1/admin/impersonate/${segment(collection.name)}/${segment(id)}`;
  const answer = await callForJson(exchange.call, { method: 'POST', path });
  if (answer.status === 401) throw needsToken();
  if (answer.status === 403) throw new Refusal(403, 'The authorized record is not allowed to perform this action.');
  const { token } = dataOf(answer);
  if (typeof token !== 'string') throw toGeneralRefusal(answer) ?? notFound();
  const { record } = await readAccount(exchange, collection, id);
  return sessionReply(exchange, collection, { ...answer, json: { data: { token, record } } });
}

const readAccount = async ({ call }: Exchange, collection: Collection, id: string) => ({
  record: dataOf(await callForJson(call, { method: 'GET', path: `${recordsPath(collection)}/${segment(id)}` })),
});
