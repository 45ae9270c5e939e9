import { randomBytes } from 'node:crypto';
import { type Client, createClient } from './client.ts';
import { Failure } from './failure.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

interface SignedIn {
  readonly admin: Client;
  readonly email: string;
  /** Set when the demo created the admin with a generated password. */
  readonly newPassword: string | undefined;
}

interface SignInOptions {
  readonly url: string;
  readonly setupToken: string | undefined;
  readonly credentials: Credentials | undefined;
}

/** Signs in as an admin; creates the first one on a stack without admins. Throws Failure that says what is missing. */
export async function signIn({ url, setupToken, credentials }: SignInOptions): Promise<SignedIn> {
  const guest = createClient(url);
  if (setupToken) {
    const account = credentials ?? { email: 'demo@example.com', password: randomBytes(12).toString('base64url') };
    const made = await guest.send<{ token: string }>('POST', '/api/v1/admin/setup', { token: setupToken, ...account });
    if (made.status === 201) {
      const newPassword = credentials ? undefined : account.password;
      return { admin: createClient(url, made.data.token), email: account.email, newPassword };
    }
    if (made.status === 401) throw new Failure('The set-up token does not belong to this stack.');
    // 409: an admin exists, so the token is used up.
    if (made.status !== 409) throw new Failure(`Cannot create the first admin: ${made.error}.`);
  }
  if (!credentials)
    throw new Failure(
      [
        `The stack at ${url} needs an admin: npm run demo -- --url ${url} --email <address> --password <password>`,
        'If it has no admin yet, --setup-token <token> creates the first one; the token is in the log of the stack.',
      ].join('\n'),
    );
  const { status, data, error } = await guest.send<{ token: string }>('POST', '/api/v1/admin/login', credentials);
  if (status !== 200) throw new Failure(`Signing in as ${credentials.email} failed: ${error}.`);
  return { admin: createClient(url, data.token), email: credentials.email, newPassword: undefined };
}
