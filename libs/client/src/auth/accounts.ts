import { RecordbusError } from '../error.ts';
import type { SessionKeeper } from '../session/keeper.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import { createOAuth, type OAuth } from './oauth.ts';
import { createOwnAccount, type OwnAccount } from './own-account.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createSignIn, type Factor, type MergeRequired, type SignedIn, type SignIn, type SignUp } from './sign-in.ts';
import { solveCaptcha } from './solve-captcha.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** A password with the address, or with an identity that the collection's setting allows, such as a username. */
export type LoginCredentials = Credentials | { readonly identity: string; readonly password: string };

/** Options of calls that may ask for a captcha. */
export interface CaptchaOptions extends CallOptions {
  /** A solved captcha: from `captcha()`, or from the provider's widget. */
  readonly captcha?: string | undefined;
}

/** An auth collection's accounts: sign-up, sign-in, and the caller's account. */
export interface Accounts<R, Create> extends OwnAccount<R> {
  /**
   * Signs up with address and password, and signs in.
   *
   * @example
   * const { state } = await client.auth('users').register({ email: 'ada@example.com', password: 'a long password' });
   */
  register(values: Create & Credentials, options?: CaptchaOptions): Promise<SignIn<R>>;
  /**
   * Signs in with a password, and the address or another identity.
   *
   * @example
   * let signIn = await client.auth('users').login({ email, password });
   * if (signIn.state === 'mfa_required') signIn = await signIn.confirm({ code: prompt('Code') ?? '' });
   * if (signIn.state === 'signed_in') console.log(signIn.record.email);
   */
  login(credentials: LoginCredentials, options?: CaptchaOptions): Promise<SignIn<R>>;
  /** Mails a code and a link for signing in. The answer is the same for an unknown address. */
  requestCode(email: string, options?: CaptchaOptions): Promise<void>;
  /** Signs in with the mailed code, or with its link's token. */
  loginWithCode(
    proof: { readonly email: string; readonly code: string } | { readonly token: string },
    options?: CallOptions,
  ): Promise<SignIn<R>>;
  /** Signs in without an address. If the token is lost, the account is lost too. */
  anonymous(values?: Partial<Create>, options?: CaptchaOptions): Promise<SignedIn<R>>;
  /** Gives the anonymous user who is signed in an address and a password. */
  promote(credentials: Credentials, options?: CaptchaOptions): Promise<SignUp<R>>;
  /** Completes a sign-in that needs a second factor. */
  confirmMfa(mfaToken: string, factor: Factor, options?: CallOptions): Promise<SignedIn<R>>;
  /** Completes a sign-in that needs a merge. Without a password, the client's session is the proof. */
  confirmMerge(mergeToken: string, proof?: { readonly password: string }, options?: CallOptions): Promise<SignIn<R>>;
  /** Mails a link for a new password. The answer is the same for an unknown address. */
  requestPasswordReset(email: string, options?: CaptchaOptions): Promise<void>;
  /** Sets a new password with the mailed token. All sessions end. */
  confirmPasswordReset(
    values: { readonly token: string; readonly password: string },
    options?: CallOptions,
  ): Promise<void>;
  /** Proves an address with the mailed token. Returns what the first proof removed. */
  verifyEmail(token: string, options?: CallOptions): Promise<{ readonly dropped: readonly string[] }>;
  /** Mails the link that proves an address again. The answer is the same for an unknown or proved address. */
  requestVerificationOf(email: string, options?: CaptchaOptions): Promise<void>;
  /**
   * Changes an address with the token mailed to the new address, and with the password if the request has left the proof
   * for later.
   */
  confirmEmailChange(token: string, options?: CallOptions & { readonly password?: string | undefined }): Promise<void>;
  /** Undoes an address change with the token mailed to the old address. All sessions end. */
  undoEmailChange(token: string, options?: CallOptions): Promise<void>;
  /** Signing in with a passkey, and the account's passkeys. */
  readonly passkeys: Passkeys<SignIn<R>>;
  /**
   * Gets a proof of work and solves it, where the collection asks for one. An answer can be used once.
   *
   * @example
   * const captcha = await client.auth('users').captcha();
   * await client.auth('users').register({ email, password }, { captcha });
   */
  captcha(options?: CallOptions): Promise<string>;
  /** Signing in at a provider. */
  readonly oauth: OAuth<R, Create>;
}

export type { Factor, MergeRequired, SignedIn, SignIn };

/** A body with a captcha's answer, if there is one. */
const solved = (values: object, captcha: string | undefined): object =>
  captcha === undefined ? values : { ...values, captcha };

/** Returns a collection's accounts. */
export function createAccounts<R, Create>(
  transport: Transport,
  session: SessionKeeper,
  collection: string,
): Accounts<R, Create> {
  const { send, signedIn, signIn, signUp, signInOrMerge, confirmMfa, confirmMerge } = createSignIn<R>(
    transport,
    session,
    collection,
  );
  const login = async (
    credentials: LoginCredentials,
    { captcha, ...options }: CaptchaOptions = {},
  ): Promise<SignIn<R>> => signIn(await send(['login'], solved(credentials, captcha), options));
  /** Sends a request whose answer is not needed, with the token of the session. */
  const tell = async (path: string, values: object, options?: CallOptions): Promise<unknown> =>
    transport.data({ method: 'POST', path: apiPath('auth', collection, path), values, ...options });

  return {
    ...createOwnAccount<R>(transport, session, collection, signUp),
    login,
    async register(values, { captcha, ...options } = {}) {
      try {
        return await signUp(await send(['register'], solved(values, captcha), { ...options, key: true }));
      } catch (error) {
        // An earlier request did the work, and its answer with the token was lost (http §7.7).
        if (!(error instanceof RecordbusError) || error.code !== 'idempotency_not_replayed') throw error;
        return login({ email: values.email, password: values.password }, options);
      }
    },
    async requestCode(email, { captcha, ...options } = {}) {
      await send(['otp', 'request'], solved({ email }, captcha), options);
    },
    loginWithCode: async (proof, options) => signIn(await send(['otp', 'auth'], proof, options)),
    anonymous: async (values = {}, { captcha, ...options } = {}) =>
      signedIn(await send(['anonymous'], solved(values, captcha), { ...options, key: true })),
    promote: async (credentials, { captcha, ...options } = {}) =>
      signUp(await send(['promote'], solved(credentials, captcha), { ...options, isAnonymous: false })),
    confirmMfa,
    confirmMerge,
    async requestPasswordReset(email, { captcha, ...options } = {}) {
      await send(['request-password-reset'], solved({ email }, captcha), options);
    },
    async confirmPasswordReset(values, options) {
      await send(['confirm-password-reset'], values, options);
    },
    async verifyEmail(token, options) {
      const { dropped = [] } = (await tell('verify-email', { token }, options)) as { readonly dropped?: string[] };
      return { dropped };
    },
    async requestVerificationOf(email, { captcha, ...options } = {}) {
      await send(['request-verify-of'], solved({ email }, captcha), options);
    },
    async confirmEmailChange(token, { password, ...options } = {}) {
      await tell('confirm-email-change', { token, ...(password !== undefined && { password }) }, options);
    },
    async undoEmailChange(token, options) {
      await send(['undo-email-change'], { token }, options);
    },
    passkeys: createPasskeys(transport, ['auth', collection], signIn),
    async captcha(options = {}) {
      const path = apiPath('auth', collection, 'captcha');
      const { json } = await transport.send({ method: 'GET', path, isAnonymous: true, ...options });
      return solveCaptcha(json, options.signal);
    },
    oauth: createOAuth<R, Create>(transport, collection, { send, signInOrMerge }),
  };
}
