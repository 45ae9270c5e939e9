import { RecordbusError } from '@recordbus/client';
import { type Problem, problemOf } from '../api/problem.ts';

/** Whether this browser can use passkeys here: it knows them, and the page came over HTTPS or from localhost. */
export const canUsePasskeys = (): boolean => isSecureContext && 'PublicKeyCredential' in globalThis;

const isLoopback = (host: string): boolean => /^127\.[\d.]{1,12}$/.test(host) || host === '[::1]';

/** What a browser's refusals mean, by the name of its DOMException (WebAuthn 3 §5.1.3, §5.1.4). */
const refusals: Readonly<Record<string, () => string>> = {
  NotAllowedError: () => 'The browser used no passkey: it was cancelled, or took too long.',
  InvalidStateError: () => 'This device has a passkey for your account already.',
  SecurityError: () =>
    isLoopback(location.hostname)
      ? `Passkeys need a name in the address: open these pages at http://localhost:${location.port}/_/.`
      : `The settings name another domain for passkeys, and these pages are at ${location.hostname}. ` +
        'Set “Domain of passkeys” and “Pages with passkeys” under Settings, Sign-in, or open these pages at that domain.',
};

/** The server does not say which check failed. These are what an admin can do about it. */
const refused =
  'The server does not know this passkey, or it does not admit these pages. ' +
  'Passkeys that were removed stay in the browser until you delete them there.';

/** Returns the problem that the server or the browser has with a passkey. */
export function passkeyProblemOf(error: unknown): Problem {
  const refusal = error instanceof DOMException ? refusals[error.name] : undefined;
  if (refusal) return { text: refusal(), status: 0, code: 'browser', places: {}, requestId: undefined };
  const problem = problemOf(error);
  return problem.code === 'invalid_passkey' ? { ...problem, text: refused } : problem;
}

/** Whether the settings offer no passkeys here, so that a sign-in need not mention them. */
export const isOfferedNowhere = (error: unknown): boolean =>
  (error instanceof RecordbusError && error.status === 422) ||
  (error instanceof DOMException && error.name === 'SecurityError');
