import { acting } from './acting.svelte.ts';
import { connection } from './connection.svelte.ts';
import { interruption } from './interruption.ts';

/** A 401 from these means a wrong password, code, passkey or token, not that the session has ended. */
const isSignIn = /^\/api\/v1\/admin\/(?:login|login\/mfa|setup|passkeys\/(?:login|register)\/verify)$/;
const refreshPath = '/api/v1/auth/refresh';

const withToken = (init: RequestInit | undefined, token: string): RequestInit => ({
  ...init,
  headers: { ...(init?.headers as Readonly<Record<string, string>>), Authorization: `Bearer ${token}` },
});

/**
 * Wraps `fetch`: requests notice an outage, carry the token of the user that the admin acts as, and wait for a sign-in
 * when the session has ended. The client itself keeps the global `fetch`, since a custom one disables upload progress.
 */
export function prepareRequests(): void {
  const plain = connection.watched(globalThis.fetch.bind(globalThis));
  globalThis.fetch = async (input, init) => {
    const path = new URL(String(input), location.origin).pathname;
    const acted = acting.tokenFor(path);
    const response = await plain(input, acted === undefined ? init : withToken(init, acted));
    if (response.status !== 401 || isSignIn.test(path)) return response;
    if (acted !== undefined) {
      await acting.stop();
      return response;
    }
    if (!interruption.isArmed) return response;
    const token = await interruption.wait(init?.signal);
    // The client asked for a new token, and the sign-in returned one.
    if (path === refreshPath) return Response.json({ data: { token } });
    return plain(input, withToken(init, token));
  };
}
