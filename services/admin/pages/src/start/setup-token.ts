/**
 * Takes the set-up token from the address's fragment, which browsers do not send to servers, and removes it there
 * before the first paint.
 */
export function takeSetupToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('setup');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/**
 * Calls with the set-up token in each link that is opened in this tab. Only the fragment changes, so the browser loads
 * nothing. Returns what ends it.
 */
export function followSetupLinks(onToken: (token: string) => void): () => void {
  const take = () => {
    const token = takeSetupToken();
    if (token !== undefined) onToken(token);
  };
  addEventListener('hashchange', take);
  return () => removeEventListener('hashchange', take);
}
