import { type AccountRequest, hasTexts } from './account-request.ts';
import { type ClientCall, dataOf, hasOnly, isObject } from './client-call.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the client's result for a sign-in without its functions. */
export const signedIn = (json: unknown): unknown => {
  const data = dataOf(json) as Json;
  const { token, record, profile, mfa_token: mfaToken, merge_token: mergeToken, linked_provider: provider } = data;
  if (mfaToken !== undefined)
    return { state: 'mfa_required', mfaToken, factors: data.factors ?? ['totp', 'recovery_code'] };
  if (data.enrollment_token !== undefined)
    return { state: 'mfa_enrollment_required', enrollmentToken: data.enrollment_token };
  if (mergeToken !== undefined)
    return { state: 'merge_required', mergeToken, email: data.email, provider: data.provider };
  return {
    state: 'signed_in',
    token,
    record,
    ...(profile !== undefined && { profile }),
    ...(provider !== undefined && { linkedProvider: provider }),
  };
};

const withoutFunctions = async (signIn: Promise<object>): Promise<unknown> =>
  Object.fromEntries(Object.entries(await signIn).filter(([, value]) => typeof value !== 'function'));

/** Sends a request that signs in, or whose answer is empty. */
const call = (
  run: (...args: Parameters<ClientCall['run']>) => Promise<object>,
  expected: ClientCall['expected'] = signedIn,
): ClientCall => ({ run: (client) => withoutFunctions(run(client)), expected });
const quiet = (run: ClientCall['run']): ClientCall => ({ run, expected: () => undefined });

/** Returns the call that matches a request without a session. */
export function signInCallOf(request: AccountRequest): ClientCall | undefined {
  return request.hasToken ? undefined : (passwordCallOf(request) ?? mailCallOf(request) ?? providerCallOf(request));
}

function passwordCallOf({ collection, name, body }: AccountRequest): ClientCall | undefined {
  const { email = '', password = '', code = '', mfa_token: mfaToken = '' } = body as Record<string, string>;
  if (name === 'POST login' && hasTexts(body, 'email', 'password'))
    return call((client) => client.auth(collection).login({ email, password }));
  if (name === 'POST register' && typeof body.email === 'string' && typeof body.password === 'string')
    return call((client) => client.auth(collection).register({ ...body, email, password }));
  if (name === 'POST anonymous') return call((client) => client.auth(collection).anonymous(body));
  if (name === 'POST login/mfa' && hasTexts(body, 'mfa_token', 'code'))
    return call((client) => client.auth(collection).confirmMfa(mfaToken, { code }));
  if (name === 'POST login/mfa' && hasTexts(body, 'mfa_token', 'recovery_code')) {
    const recoveryCode = String(body.recovery_code);
    return call((client) => client.auth(collection).confirmMfa(mfaToken, { recoveryCode }));
  }
  return undefined;
}

function mailCallOf({ collection, name, body }: AccountRequest): ClientCall | undefined {
  const { email = '', password = '', code = '', token = '' } = body as Record<string, string>;
  if (name === 'POST otp/request' && hasTexts(body, 'email'))
    return quiet((client) => client.auth(collection).requestCode(email));
  if (name === 'POST otp/auth' && (hasTexts(body, 'token') || hasTexts(body, 'email', 'code')))
    return call((client) => client.auth(collection).loginWithCode('token' in body ? { token } : { email, code }));
  if (name === 'POST request-password-reset' && hasTexts(body, 'email'))
    return quiet((client) => client.auth(collection).requestPasswordReset(email));
  if (name === 'POST confirm-password-reset' && hasTexts(body, 'token', 'password'))
    return quiet((client) => client.auth(collection).confirmPasswordReset({ token, password }));
  if (name === 'POST verify-email' && hasTexts(body, 'token'))
    return call(
      (client) => client.auth(collection).verifyEmail(token),
      (json) => ({ dropped: (dataOf(json) as Json | null)?.dropped ?? [] }),
    );
  if (name === 'POST confirm-email-change' && hasTexts(body, 'token'))
    return quiet((client) => client.auth(collection).confirmEmailChange(token));
  if (name === 'POST undo-email-change' && hasTexts(body, 'token'))
    return quiet((client) => client.auth(collection).undoEmailChange(token));
  return undefined;
}

function providerCallOf({ collection, name, body, query }: AccountRequest): ClientCall | undefined {
  const { provider = '', redirectUri = '', state = '', use_pkce: pkce } = query;
  if (name === 'GET oauth2/providers')
    return { run: (client) => client.auth(collection).oauth.providers(), expected: dataOf };
  if (name === 'GET oauth2/authorize' && provider && redirectUri && state && pkce === '1')
    return call(
      (client) => client.auth(collection).oauth.begin({ provider, redirectUri, state }),
      (json) => ({ url: (dataOf(json) as Json).authorize_url, state }),
    );
  const { record, ...answer } = body;
  const isAnswer = hasTexts(answer, 'provider', 'code', 'redirectUri', 'state');
  if (name === 'POST oauth2/exchange' && isAnswer && (record === undefined || isObject(record)))
    return call((client) => client.auth(collection).oauth.complete(body as never));
  if (name === 'POST oauth2/merge-confirm' && hasTexts(body, 'merge_token', 'password') && hasOnly(query, [])) {
    const proof = { password: String(body.password) };
    return call((client) => client.auth(collection).confirmMerge(String(body.merge_token), proof));
  }
  return undefined;
}
