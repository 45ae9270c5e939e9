import { unexpectedAnswer } from '../error.ts';
import type { SessionKeeper } from '../session/keeper.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';

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

/** A code from an authenticator app, or a recovery code. */
export type Factor = { readonly code: string } | { readonly recoveryCode: string };

/** A sign-in that needs a second factor, within five minutes. Nobody is signed in yet. */
export interface MfaRequired<R> {
  readonly state: 'mfa_required';
  /** For `confirmMfa` after the page was reloaded. */
  readonly mfaToken: string;
  /** Completes the sign-in. A wrong factor is an error with the code `invalid_code`, and may be tried again. */
  confirm(factor: Factor, options?: CallOptions): Promise<SignedIn<R>>;
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
export type SignIn<R> = SignedIn<R> | MfaRequired<R>;

/** The data in sign-in answers. */
interface Answer<R> {
  readonly token?: string;
  readonly record: R;
  readonly profile?: Profile;
  readonly linked_provider?: string;
  readonly mfa_token?: string;
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
    const proof = 'code' in factor ? { code: factor.code } : { recovery_code: factor.recoveryCode };
    return signedIn(await send(['login', 'mfa'], { mfa_token: mfaToken, ...proof }, options));
  }

  async function signIn(answer: Answer<R>): Promise<SignIn<R>> {
    const { mfa_token: mfaToken } = answer;
    if (mfaToken === undefined) return signedIn(answer);
    return { state: 'mfa_required', mfaToken, confirm: (factor, options) => confirmMfa(mfaToken, factor, options) };
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

  return { send, signedIn, signIn, signInOrMerge, confirmMfa, confirmMerge };
}
