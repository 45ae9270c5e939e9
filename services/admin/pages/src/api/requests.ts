import { acting } from './acting.svelte.ts';
import { connection } from './connection.svelte.ts';
import { interruption } from './interruption.ts';

/** Refusals of these say that a password or a token is wrong, not that the session has ended. */
const isSignIn = /^\/api\/v1\/admin\/(?:login|setup)$/;
const refreshPath = '/api/v1/auth/refresh';

const withToken = (init: RequestInit | undefined, token: string): RequestInit => ({
  ...init,
  headers: { ...(init?.headers as Readonly<Record<string, string>>), Authorization: `Bearer ${token}` },
});

/**
 * Makes the requests of the page notice whether the stack answers, act as a user while the admin does, and wait for a
 * sign-in where the session has ended.
 * The client sends with the `fetch` of the platform: a function given to it would take the progress of uploads away.
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
    // The client asked for a new token: the sign-in brought one.
    if (path === refreshPath) return Response.json({ data: { token } });
    return plain(input, withToken(init, token));
  };
}
