import { unexpectedAnswer } from '../error.ts';
import { newKey } from '../retry.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath, mergeQueries } from '../url.ts';
import type { PasswordProof } from './own-account.ts';
import type { createSignIn, MergeRequired, SignIn } from './sign-in.ts';

/** A link between the caller's account and a provider. */
export interface OAuthLink {
  readonly provider: string;
  /** The caller's id at the provider. */
  readonly provider_user_id: string;
  /** In seconds since 1970. */
  readonly created: number;
}

/** The values that a page keeps while the browser is at a provider. */
export interface OAuthStart {
  /** The address at the provider, for the browser. */
  readonly url: string;
  /** The provider returns it. Compare it before `complete`. */
  readonly state: string;
}

/** Signing in at a provider. */
export interface OAuth<R, Create> {
  providers(options?: CallOptions): Promise<readonly { readonly name: string; readonly displayName: string }[]>;
  /**
   * Begins a sign-in. The server keeps the PKCE verifier.
   *
   * @example
   * const { url, state } = await client.auth('users').oauth.begin({ provider: 'github', redirectUri });
   * sessionStorage.setItem('state', state);
   * location.assign(url);
   */
  begin(
    request: { readonly provider: string; readonly redirectUri: string; readonly state?: string },
    options?: CallOptions,
  ): Promise<OAuthStart>;
  /** Completes a sign-in with the code and the state with which the browser returned. */
  complete(
    answer: {
      readonly provider: string;
      readonly code: string;
      readonly redirectUri: string;
      readonly state: string;
      /** A new account's fields. */
      readonly record?: Partial<Create>;
    },
    options?: CallOptions,
  ): Promise<SignIn<R> | MergeRequired<R>>;
  /** Lists the links between the caller's account and providers. */
  links(options?: CallOptions): Promise<readonly OAuthLink[]>;
  /** Removes the link between the caller's account and a provider. */
  unlink(provider: string, proof?: PasswordProof): Promise<void>;
}

/** Returns a collection's sign-ins at providers. */
export function createOAuth<R, Create>(
  transport: Transport,
  collection: string,
  { send, signInOrMerge }: Pick<ReturnType<typeof createSignIn<R>>, 'send' | 'signInOrMerge'>,
): OAuth<R, Create> {
  const at = (...segments: string[]): string => apiPath('auth', collection, 'oauth2', ...segments);
  return {
    providers: (options) => transport.data({ method: 'GET', path: at('providers'), ...options }),
    async begin({ provider, redirectUri, state = newKey() }, { query: more, signal } = {}) {
      const query = mergeQueries(more, { provider, redirectUri, state, use_pkce: true });
      const path = at('authorize');
      const answer = await transport.data<{ authorize_url: string } | null>({
        method: 'GET',
        path,
        query,
        signal,
      });
      if (!answer?.authorize_url) throw unexpectedAnswer();
      return { url: answer.authorize_url, state };
    },
    complete: async (answer, options) => signInOrMerge(await send(['oauth2', 'exchange'], answer, options)),
    links: (options) => transport.data({ method: 'GET', path: at('links'), ...options }),
    async unlink(provider, { oldPassword, query, signal } = {}) {
      const values = oldPassword === undefined ? {} : { old_password: oldPassword };
      await transport.send({ method: 'DELETE', path: at(provider, 'unlink'), values, query, signal });
    },
  };
}
