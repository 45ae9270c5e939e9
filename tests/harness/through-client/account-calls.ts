import { type ClientCall, dataOf, hasOnly, isObject, type Wanted } from './client-call.ts';

type Json = Readonly<Record<string, unknown>>;

const path = /^\/api\/v1\/auth\/([A-Za-z]\w*)\/([a-z2/-]+)$/;

/** What the client returns of a sign-in, without the functions that continue it. */
const signedIn = (json: unknown): unknown => {
  const { token, record, profile, mfa_token: mfaToken } = dataOf(json) as Json;
  if (mfaToken !== undefined) return { state: 'mfa_required', mfaToken };
  return { state: 'signed_in', token, record, ...(profile !== undefined && { profile }) };
};

/** Whether a body has exactly these members, as texts. */
const hasTexts = (body: Json, ...names: readonly string[]): boolean =>
  Object.keys(body).length === names.length && names.every((name) => typeof body[name] === 'string');

/** The call of `auth(…)` that stands for a request to an account. */
export function accountCallOf(wanted: Wanted): ClientCall | undefined {
  const { method, resource, query, headers, hasToken } = wanted;
  const [, collection = '', action = ''] = path.exec(resource) ?? [];
  if (collection === '' || !hasOnly(query, []) || !hasOnly(headers, ['x-request-id'])) return undefined;
  const body = wanted.body === undefined ? {} : wanted.body;
  if (!isObject(body)) return undefined;
  return hasToken ? ofUser(method, collection, action, body) : ofGuest(method, collection, action, body as never);
}

function ofGuest(method: string, collection: string, action: string, body: Record<string, string>) {
  const { email = '', password = '', code = '', token = '' } = body;
  const withoutFunctions = async (signIn: Promise<object>): Promise<unknown> =>
    Object.fromEntries(Object.entries(await signIn).filter(([, value]) => typeof value !== 'function'));
  const call = (run: ClientCall['run'], expected: ClientCall['expected'] = () => undefined): ClientCall => ({
    run,
    expected,
  });
  const name = `${method} ${action}`;
  if (name === 'POST login' && hasTexts(body, 'email', 'password'))
    return call((client) => withoutFunctions(client.auth(collection).login({ email, password })), signedIn);
  if (name === 'POST register' && typeof body.email === 'string' && typeof body.password === 'string')
    return call((client) => withoutFunctions(client.auth(collection).register({ ...body, email, password })), signedIn);
  if (name === 'POST anonymous')
    return call((client) => withoutFunctions(client.auth(collection).anonymous(body)), signedIn);
  if (name === 'POST otp/request' && hasTexts(body, 'email'))
    return call((client) => client.auth(collection).requestCode(email));
  if (name === 'POST otp/auth' && (hasTexts(body, 'token') || hasTexts(body, 'email', 'code')))
    return call(
      (client) =>
        withoutFunctions(client.auth(collection).loginWithCode('token' in body ? { token } : { email, code })),
      signedIn,
    );
  if (name === 'POST request-password-reset' && hasTexts(body, 'email'))
    return call((client) => client.auth(collection).requestPasswordReset(email));
  if (name === 'POST confirm-password-reset' && hasTexts(body, 'token', 'password'))
    return call((client) => client.auth(collection).confirmPasswordReset({ token, password }));
  if (name === 'POST undo-email-change' && hasTexts(body, 'token'))
    return call((client) => client.auth(collection).undoEmailChange(token));
  return undefined;
}

function ofUser(method: string, collection: string, action: string, body: Json): ClientCall | undefined {
  const name = `${method} ${action}`;
  if (name === 'GET sessions') return { run: (client) => client.auth(collection).sessions.list(), expected: dataOf };
  if (name === 'DELETE sessions')
    return { run: (client) => client.auth(collection).sessions.endOthers(), expected: () => undefined };
  if (name === 'POST change-password' && hasTexts(body, 'old_password', 'password')) {
    const { old_password: oldPassword, password } = body as Record<string, string>;
    const values = { oldPassword: oldPassword ?? '', password: password ?? '' };
    return { run: (client) => client.auth(collection).changePassword(values), expected: signedIn };
  }
  if (name === 'POST promote' && hasTexts(body, 'email', 'password')) {
    const { email = '', password = '' } = body as Record<string, string>;
    return { run: (client) => client.auth(collection).promote({ email, password }), expected: signedIn };
  }
  return undefined;
}
