import { type AccountRequest, hasTexts } from './account-request.ts';
import { type ClientCall, dataOf } from './client-call.ts';
import { signedIn } from './sign-in-calls.ts';

/** Returns the call that matches a request from the signed-in account. */
export function ownAccountCallOf(request: AccountRequest): ClientCall | undefined {
  return sessionCallOf(request) ?? factorCallOf(request) ?? changeCallOf(request);
}

const quiet = (run: ClientCall['run']): ClientCall => ({ run, expected: () => undefined });
const answering = (run: ClientCall['run']): ClientCall => ({ run, expected: dataOf });

/** The proof in a body, as the client takes it. */
const proofOf = ({ old_password: password }: AccountRequest['body']): { readonly oldPassword?: string } =>
  password === undefined ? {} : { oldPassword: String(password) };
/** Whether a body has exactly these texts, and may have a proof. */
const hasProved = (body: object, ...names: readonly string[]): boolean =>
  hasTexts(body, ...names) || hasTexts(body, ...names, 'old_password');

function sessionCallOf({ collection, name, body }: AccountRequest): ClientCall | undefined {
  if (!hasTexts(body)) return undefined;
  const [, id] = /^DELETE sessions\/([\w-]+)$/.exec(name) ?? [];
  if (id !== undefined) return quiet((client) => client.auth(collection).sessions.end(id));
  if (name === 'GET sessions') return answering((client) => client.auth(collection).sessions.list());
  if (name === 'DELETE sessions') return quiet((client) => client.auth(collection).sessions.endOthers());
  if (name === 'POST logout') return quiet((client) => client.auth(collection).logout());
  return undefined;
}

function factorCallOf({ collection, name, body }: AccountRequest): ClientCall | undefined {
  const code = String(body.code);
  if (name === 'POST totp/setup' && hasProved(body))
    return answering((client) => client.auth(collection).totp.setup(proofOf(body)));
  if (name === 'POST totp/confirm' && hasTexts(body, 'code'))
    return answering((client) => client.auth(collection).totp.confirm(code));
  if (name === 'POST totp/disable' && hasProved(body, 'code'))
    return answering((client) => client.auth(collection).totp.disable({ code, ...proofOf(body) }));
  if (name === 'POST totp/recovery/regenerate' && hasProved(body))
    return answering((client) => client.auth(collection).totp.regenerateRecoveryCodes(proofOf(body)));
  if (name === 'GET totp/recovery/status') return answering((client) => client.auth(collection).totp.recoveryStatus());
  return undefined;
}

function changeCallOf({ collection, name, body }: AccountRequest): ClientCall | undefined {
  const { email = '', password = '', old_password: oldPassword = '', token = '' } = body as Record<string, string>;
  const account = (run: ClientCall['run']): ClientCall => ({ run, expected: signedIn });
  if (name === 'POST change-password' && hasTexts(body, 'old_password', 'password'))
    return account((client) => client.auth(collection).changePassword({ oldPassword, password }));
  if (name === 'POST promote' && hasTexts(body, 'email', 'password'))
    return account((client) => client.auth(collection).promote({ email, password }));
  if (name === 'POST request-verify' && hasTexts(body))
    return answering((client) => client.auth(collection).requestVerification());
  if (name === 'POST request-verify-of' && hasTexts(body, 'email'))
    return quiet((client) => client.auth(collection).requestVerificationOf(email));
  if (name === 'GET oauth2/links') return answering((client) => client.auth(collection).oauth.links());
  if (name === 'POST request-email-change' && hasProved(body, 'email'))
    return answering((client) => client.auth(collection).requestEmailChange(email, proofOf(body)));
  if (name === 'POST verify-email' && hasTexts(body, 'token'))
    return {
      run: (client) => client.auth(collection).verifyEmail(token),
      expected: (json) => ({ dropped: Object(dataOf(json)).dropped ?? [] }),
    };
  const [, provider] = /^DELETE oauth2\/(\w+)\/unlink$/.exec(name) ?? [];
  if (provider !== undefined && hasProved(body))
    return quiet((client) => client.auth(collection).oauth.unlink(provider, proofOf(body)));
  return undefined;
}
