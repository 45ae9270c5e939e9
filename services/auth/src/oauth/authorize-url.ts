import type { Provider } from './provider.ts';

/** One wish to sign in at a provider. */
export interface Authorization {
  readonly redirectUri: string;
  readonly state: string;
  /** S256 (RFC 7636 §4.2); none where no PKCE is used. */
  readonly codeChallenge: string | undefined;
}

/** The URL at the provider to which the browser goes (RFC 6749 §4.1.1); everything of the caller's is a value in it. */
export function composeAuthorizeUrl(
  { authorizeUrl, scopes, authorizeParameters }: Provider,
  clientId: string,
  { redirectUri, state, codeChallenge }: Authorization,
): string {
  const url = new URL(authorizeUrl);
  const parameters = {
    ...authorizeParameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scopes && { scope: scopes }),
    state,
    ...(codeChallenge && { code_challenge: codeChallenge, code_challenge_method: 'S256' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  // Not every provider takes a plus sign for a space.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}
