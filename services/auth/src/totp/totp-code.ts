import { generateSecret, generateURI, verify } from 'otplib';
import { typedCode } from '../one-time/typed-code.ts';

/** A code's lifetime (auth §6.5). */
const stepSec = 30;

/** Returns a new secret: 20 random bytes in base32, as long as an HMAC-SHA-1 (RFC 4226 §4). */
export const newTotpSecret = (): string => generateSecret();

/** Returns the URL for the QR code. The app shows issuer and address next to the code. */
export const otpauthUrl = (secret: string, { issuer, email }: { issuer: string; email: string }): string =>
  generateURI({ secret, issuer, label: email });

/**
 * Returns a code's time step: the present one, the one before or the one after (RFC 6238 §5.2); undefined for a wrong
 * code or another text.
 */
export async function findTotpStep(secret: string, code: string, nowSec: number): Promise<number | undefined> {
  const token = typedCode(code);
  if (!/^\d{6}$/.test(token)) return undefined;
  const result = await verify({ strategy: 'totp', secret, token, epoch: nowSec, epochTolerance: stepSec });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
