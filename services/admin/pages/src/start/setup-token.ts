/**
 * Takes the set-up token from the fragment of the address, which browsers do not send to servers, and removes it there
 * before the first paint.
 */
export function takeSetupToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('setup');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}
