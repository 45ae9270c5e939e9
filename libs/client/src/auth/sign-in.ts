import { unexpectedAnswer } from '../error.ts';
import type { SessionKeeper } from '../session/keeper.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import { loadBrowserPasskeys, type PasskeyCeremony } from './passkeys.ts';

/** The profile at a provider. A member is null if the provider does not return it. */
export interface Profile {
  readonly provider: string;
  readonly id: string;
  readonly email: string | null;
  readonly email_verified: boolean | null;
  readonly name: string | null;
  readonly username: string | null;
  readonly avatar_url: string | null;
}

/** A completed sign-in. The client has its token from now on. */
export interface SignedIn<R> {
  readonly state: 'signed_in';
  readonly token: string;
  readonly record: R;
  /** After a sign-in at a provider. */
  readonly profile?: Profile;
  /** After a merge: the newly linked provider. */
  readonly linkedProvider?: string;
}

/** A code from an authenticator app or a mail, or a recovery code. */
export type CodeFactor = { readonly code: string } | { readonly recoveryCode: string };

/** A second factor; for a passkey the browser asks. */
export type Factor = CodeFactor | { readonly passkey: true };

/** A sign-in that needs a second factor, within five minutes, or ten if a code was mailed. Nobody is signed in yet. */
export interface MfaRequired<R> {
  readonly state: 'mfa_required';
  /** What `confirm` takes: with `email` a code was mailed, otherwise a code is from the app. */
  readonly factors: readonly ('totp' | 'recovery_code' | 'email' | 'passkey')[];
  /** For `confirmMfa` after the page was reloaded. */
  readonly mfaToken: string;
  /** Completes the sign-in. A wrong factor is an error with the code `invalid_code`, and may be tried again. */
  confirm(factor: Factor, options?: CallOptions): Promise<SignedIn<R>>;
}

/**
 * A sign-in whose user must set up a second factor first, within ten minutes: an authenticator app or a passkey. Nobody is
 * signed in yet.
 */
export interface EnrollmentRequired<R> {
  readonly state: 'mfa_enrollment_required';
  readonly enrollmentToken: string;
  /** Creates an authenticator app's secret. */
  setUpApp(options?: CallOptions): Promise<{ readonly secret: string; readonly otpauth_url: string }>;
  /** Confirms the app with one of its codes, and completes the sign-in. The recovery codes are never shown again. */
  confirmApp(code: string, options?: CallOptions): Promise<SignedIn<R> & { readonly codes: readonly string[] }>;
  /** Has the browser make a passkey, and completes the sign-in. */
  addPasskey(options?: CallOptions & { readonly name?: string }): Promise<SignedIn<R>>;
}

/**
 * A sign-in at a provider with an address whose account is not linked to it. The account's holder confirms it with the
 * password, or with a session that is at most ten minutes old.
 */
export interface MergeRequired<R> {
  readonly state: 'merge_required';
  readonly mergeToken: string;
  readonly email: string;
  readonly provider: string;
  confirm(proof?: { readonly password: string }, options?: CallOptions): Promise<SignIn<R>>;
}

/** What a first factor leads to. */
export type SignIn<R> = SignedIn<R> | MfaRequired<R> | EnrollmentRequired<R>;

/** What a registration, a promotion or a new password leads to: none of them asks for a factor that exists. */
export type SignUp<R> = SignedIn<R> | EnrollmentRequired<R>;

/** The data in sign-in answers. */
interface Answer<R> {
  readonly token?: string;
  readonly record: R;
  readonly profile?: Profile;
  readonly linked_provider?: string;
  readonly mfa_token?: string;
  readonly factors?: MfaRequired<R>['factors'];
  readonly enrollment_token?: string;
  readonly codes?: readonly string[];
  readonly merge_token?: string;
  readonly email?: string;
  readonly provider?: string;
}

/** Sends the requests that sign in. */
export function createSignIn<R>(transport: Transport, session: SessionKeeper, collection: string) {
  async function send(
    segments: readonly string[],
    values: object,
    more: CallOptions & { readonly key?: boolean; readonly isAnonymous?: boolean } = {},
  ): Promise<Answer<R>> {
    const path = apiPath('auth', collection, ...segments);
    return Object(await transport.data({ method: 'POST', path, values, isAnonymous: true, ...more }));
  }

  async function signedIn({
    token = '',
    record,
    profile,
    linked_provider: linkedProvider,
  }: Answer<R>): Promise<SignedIn<R>> {
    if (token === '') throw unexpectedAnswer();
    await session.begin(token);
    return {
      state: 'signed_in',
      token,
      record,
      ...(profile && { profile }),
      ...(linkedProvider && { linkedProvider }),
    };
  }

  async function confirmMfa(mfaToken: string, factor: Factor, options: CallOptions = {}): Promise<SignedIn<R>> {
    return signedIn(
      await send(['login', 'mfa'], { mfa_token: mfaToken, ...(await proofOf(factor, options)) }, options),
    );
  }

  async function proofOf(factor: Factor, options: CallOptions): Promise<object> {
    if ('code' in factor) return { code: factor.code };
    if ('recoveryCode' in factor) return { recovery_code: factor.recoveryCode };
    const { usePasskey } = await loadBrowserPasskeys();
    const { challenge_id, options: wanted } = await ceremony(['login', 'options'], {}, options);
    const credential = await usePasskey(wanted, false, options.signal);
    return { passkey: { challenge_id, credential } };
  }

  /** Begins a passkey's ceremony. */
  const ceremony = async (path: readonly string[], values: object, options: CallOptions): Promise<PasskeyCeremony> =>
    Object(await send(['passkeys', ...path], values, options));

  function enroll(enrollmentToken: string): EnrollmentRequired<R> {
    const proof = { enrollment_token: enrollmentToken };
    return {
      state: 'mfa_enrollment_required',
      enrollmentToken,
      setUpApp: async (options) => Object(await send(['totp', 'setup'], proof, options)),
      async confirmApp(code, options) {
        const { codes = [], ...answer } = await send(['totp', 'confirm'], { code, ...proof }, options);
        return { ...(await signedIn(answer)), codes };
      },
      async addPasskey({ name, ...options } = {}) {
        const { makePasskey } = await loadBrowserPasskeys();
        const { challenge_id, options: wanted } = await ceremony(['register', 'options'], proof, options);
        const credential = await makePasskey(wanted, options.signal);
        const values = { challenge_id, credential, ...(name !== undefined && { name }), ...proof };
        return signedIn(await send(['passkeys', 'register', 'verify'], values, options));
      },
    };
  }

  async function signUp(answer: Answer<R>): Promise<SignUp<R>> {
    const { enrollment_token: enrollmentToken } = answer;
    return enrollmentToken === undefined ? signedIn(answer) : enroll(enrollmentToken);
  }

  async function signIn(answer: Answer<R>): Promise<SignIn<R>> {
    const { mfa_token: mfaToken, factors = ['totp', 'recovery_code'] } = answer;
    if (mfaToken === undefined) return signUp(answer);
    const confirm: MfaRequired<R>['confirm'] = (factor, options) => confirmMfa(mfaToken, factor, options);
    return { state: 'mfa_required', mfaToken, factors, confirm };
  }

  /** Without a password, the client's session is the proof. */
  async function confirmMerge(
    mergeToken: string,
    proof?: { readonly password: string },
    options: CallOptions = {},
  ): Promise<SignIn<R>> {
    const values = { merge_token: mergeToken, ...proof };
    return signIn(await send(['oauth2', 'merge-confirm'], values, { ...options, isAnonymous: proof !== undefined }));
  }

  async function signInOrMerge(answer: Answer<R>): Promise<SignIn<R> | MergeRequired<R>> {
    const { merge_token: mergeToken, email = '', provider = '' } = answer;
    if (mergeToken === undefined) return signIn(answer);
    const confirm: MergeRequired<R>['confirm'] = (proof, options) => confirmMerge(mergeToken, proof, options);
    return { state: 'merge_required', mergeToken, email, provider, confirm };
  }

  return { send, signedIn, signIn, signUp, signInOrMerge, confirmMfa, confirmMerge };
}
