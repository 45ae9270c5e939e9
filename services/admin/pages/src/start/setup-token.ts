/**
 * Takes the set-up token out of the fragment of the address, which browsers send to no server. It stays in the address
 * no longer than the first paint.
 */
export function takeSetupToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('setup');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}
