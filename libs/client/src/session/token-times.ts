import type { Session } from './session.ts';

/** A session token's claims that the client reads, only to decide when to refresh. */
interface Claims {
  readonly iat?: number;
  readonly exp?: number;
  readonly impersonated_by?: string;
}

/** The share of a token's life after which it is refreshed. */
const refreshAfter = 0.5;

/**
 * Whether to refresh a session. Its age is measured by this machine's clock, from the token's arrival, so the client's
 * and server's clocks may differ. Service keys have no claims, and impersonation tokens cannot be refreshed.
 */
export function isRefreshDue({ token, receivedAtMs }: Session, nowMs: number): boolean {
  const { iat, exp, impersonated_by: actor } = claimsOf(token);
  if (iat === undefined || exp === undefined || actor !== undefined) return false;
  const ageMs = nowMs - (receivedAtMs ?? iat * 1000);
  // If the clock was set back, the age is unknown. An unneeded refresh does no harm.
  return ageMs < -clockSlackMs || ageMs >= (exp - iat) * 1000 * refreshAfter;
}

const clockSlackMs = 1000;

function claimsOf(token: string): Claims {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Claims;
  } catch {
    return {};
  }
}
