import type { Provider } from './provider.ts';

/** One authorization request's parameters. */
export interface Authorization {
  readonly redirectUri: string;
  readonly state: string;
  /** An S256 challenge (RFC 7636 §4.2); undefined without PKCE. */
  readonly codeChallenge: string | undefined;
}

/** Composes the URL at the provider for the browser (RFC 6749 §4.1.1). The caller's parameters are only values in it. */
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
  // Not every provider reads a plus sign as a space.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}
