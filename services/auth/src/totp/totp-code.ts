import { generateSecret, generateURI, verify } from 'otplib';

/** Seconds that a code is shown for (interface §5, TOTP). */
const stepSec = 30;

/** A new secret: 20 random bytes in base32, as long as HMAC-SHA1 is wide (RFC 4226 §4). */
export const newTotpSecret = (): string => generateSecret();

/** What an authenticator app reads of a QR code; app and account are shown beside the code. */
export const otpauthUrl = (secret: string, { issuer, email }: { issuer: string; email: string }): string =>
  generateURI({ secret, issuer, label: email });

/**
 * The time step of which this is the code, the one before and the one after the present one among them (RFC 6238 §5.2);
 * undefined for a wrong code, whatever its form.
 */
export async function findTotpStep(secret: string, code: string, nowSec: number): Promise<number | undefined> {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const result = await verify({ strategy: 'totp', secret, token, epoch: nowSec, epochTolerance: stepSec });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
