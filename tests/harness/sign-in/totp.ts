import { createHmac } from 'node:crypto';

/** Returns an authenticator app's current time step (RFC 6238 §4). */
const stepNow = (): number => Math.floor(Date.now() / 30_000);

/** Returns the code that an authenticator app shows now, or `later` steps of 30 s later. */
export const totpCode = (secret: string, later = 0): string => codeOf(secret, stepNow() + later);

/** Returns a code that is wrong now and in the next steps. */
export function wrongTotpCode(secret: string): string {
  const right = new Set(Array.from({ length: 12 }, (_, index) => codeOf(secret, stepNow() - 2 + index)));
  return ['111111', '222222', '333333'].find((code) => !right.has(code)) ?? '444444';
}

function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** RFC 4648 §6, without padding. */
function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
