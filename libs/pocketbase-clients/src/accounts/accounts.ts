import type { Collection } from '@recordbus/schema';
import { accountsOf, type Exchange, type Reply, readJson, saysAdmin, saysCollection, segment } from '../exchange.ts';
import { callForJson, dataOf, isSuccess, type JsonAnswer, type JsonObject } from '../product.ts';
import { recordsPath } from '../records/records.ts';
import { memberRefusals, toGeneralRefusal } from '../records/to-refusal.ts';
import { blank, invalid, type MemberRefusals, mismatch, needsToken, notFound, Refusal } from '../refusal.ts';
import { serveAuthMethods } from './auth-methods.ts';
import { serveOAuth } from './oauth.ts';
import { adminReply, sessionReply } from './session-reply.ts';

/** Serves an auth collection's route. */
type ServeAccounts = (exchange: Exchange, collection: Collection) => Promise<Reply>;

const authPath = ({ name }: Collection): string => `/api/v1/auth/${segment(name)}`;

/** `collections/{collection}/{route}`, by method and route. */
const routes: Readonly<Record<string, ServeAccounts>> = {
  'GET auth-methods': serveAuthMethods,
  'POST auth-with-password': signInWithPassword,
  'POST auth-with-oauth2': serveOAuth,
  'POST auth-with-otp': signInWithCode,
  'POST auth-refresh': refresh,
  'POST request-otp': requestCode,
  'POST request-password-reset': (exchange, collection) =>
    requestMail(exchange, collection, 'email', 'request-password-reset'),
  'POST confirm-password-reset': confirmReset,
  'POST request-verification': requestVerification,
  'POST confirm-verification': (exchange, collection) => confirm(exchange, collection, 'verify-email'),
  'POST request-email-change': requestAddress,
  'POST confirm-email-change': (exchange, collection) => confirm(exchange, collection, 'confirm-email-change'),
};

/** Routes about the caller's own account, whose token PocketBase asks for before anything else. */
const ownRoutes: ReadonlySet<string> = new Set(['POST auth-refresh', 'POST request-email-change']);

const otherAccount = (name: string) => new Refusal(403, `The request requires auth record from ${name} collection.`);

/** Serves a route of an auth collection, or of `_superusers`. */
export async function serveAccounts(exchange: Exchange, name: string, route: string): Promise<Reply> {
  const key = `${exchange.request.method} ${route}`;
  if (name === '_superusers' || name === 'pbc_3142635823') return serveAdmins(exchange, key);
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

/** Reads a body and throws 400 for members that are missing. */
async function readRequired(exchange: Exchange, names: readonly string[]): Promise<JsonObject> {
  const body = await readJson(exchange.request);
  const missing = names.filter((name) => typeof body[name] !== 'string' || body[name] === '');
  if (missing.length > 0) throw invalid(Object.fromEntries(missing.map((name) => [name, blank])));
  return body;
}

async function signInWithPassword(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { identity, identityField, password } = await readRequired(exchange, ['identity', 'password']);
  if (identityField && !exchange.accounts.identityFieldsOf(collection).includes(String(identityField)))
    throw invalid({ identityField: { code: 'validation_in_invalid', message: 'Must be a valid value.' } });
  const named = identityField === 'email' ? { email: identity } : { identity };
  const answer = await post(exchange, collection, 'login', { ...named, password });
  return sessionReply(exchange, collection, answer);
}

async function refresh(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { request, call } = exchange;
  if (request.token === undefined) throw needsToken();
  if (saysAdmin(request)) throw otherAccount(collection.name);
  const answer = await callForJson(call, { method: 'POST', path: '/api/v1/auth/refresh' });
  if (answer.status === 401) throw needsToken();
  if (isSuccess(answer) && !saysCollection(exchange, collection)) throw otherAccount(collection.name);
  return sessionReply(exchange, collection, answer);
}

/** A code's request is found again by the address, so its id is the address: nothing is stored, and nothing is revealed. */
const codeId = (email: string): string => Buffer.from(email).toString('base64url');

async function requestCode(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { email } = await readRequired(exchange, ['email']);
  const answer = await post(exchange, collection, 'otp/request', { email });
  if (!isSuccess(answer))
    throw toGeneralRefusal(answer) ?? new Refusal(403, 'The collection is not configured to allow OTP authentication.');
  return { status: 200, body: { otpId: codeId(String(email)) } };
}

async function signInWithCode(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { otpId, password: code, mfaId } = await readRequired(exchange, ['otpId', 'password']);
  // The second factor here is an authenticator app's code.
  if (mfaId !== undefined)
    return sessionReply(
      exchange,
      collection,
      await post(exchange, collection, 'login/mfa', { mfa_token: mfaId, code }),
    );
  const email = Buffer.from(String(otpId), 'base64url').toString();
  return sessionReply(exchange, collection, await post(exchange, collection, 'otp/auth', { email, code }));
}

async function requestMail(exchange: Exchange, collection: Collection, member: string, route: string): Promise<Reply> {
  const { [member]: email } = await readRequired(exchange, [member]);
  const answer = await post(exchange, collection, route, { email });
  const refusal = toGeneralRefusal(answer);
  if (refusal) throw refusal;
  return { status: 204 };
}

/** Only an account's own user asks for the mail here; every other request gets the same answer, without a mail. */
async function requestVerification(exchange: Exchange, collection: Collection): Promise<Reply> {
  await readRequired(exchange, ['email']);
  const answer = await post(exchange, collection, 'request-verify', {});
  const refusal = toGeneralRefusal(answer);
  if (refusal) throw refusal;
  return { status: 204 };
}

async function requestAddress(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { newEmail, oldPassword } = await readRequired(exchange, ['newEmail']);
  const proof = oldPassword === undefined ? {} : { old_password: oldPassword };
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

const wrongToken = { code: 'validation_invalid_token', message: 'Invalid or expired token.' };

async function confirmReset(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { token, password, passwordConfirm } = await readRequired(exchange, ['token', 'password', 'passwordConfirm']);
  if (password !== passwordConfirm) throw invalid({ passwordConfirm: mismatch });
  return confirmed(await post(exchange, collection, 'confirm-password-reset', { token, password }));
}

async function confirm(exchange: Exchange, collection: Collection, route: string): Promise<Reply> {
  const { token } = await readRequired(exchange, ['token']);
  return confirmed(await post(exchange, collection, route, { token }));
}

function confirmed(answer: JsonAnswer): Reply {
  if (isSuccess(answer)) return { status: 204 };
  const members: MemberRefusals = answer.status === 401 ? { token: wrongToken } : memberRefusals(answer.json.details);
  throw toGeneralRefusal(answer) ?? invalid(members);
}

/** `collections/{collection}/impersonate/{id}`. */
export async function serveImpersonation(exchange: Exchange, name: string, id: string): Promise<Reply> {
  const collection = accountsOf(exchange, name);
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

const post = ({ call }: Exchange, collection: Collection, route: string, body: JsonObject): Promise<JsonAnswer> =>
  callForJson(call, { method: 'POST', path: `${authPath(collection)}/${route}`, body });
