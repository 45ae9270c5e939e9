import { unexpectedAnswer } from '../error.ts';
import { untilAborted } from '../retry.ts';

/** A proof of work, as the stack gives it. */
interface Challenge {
  readonly challenge: string;
  readonly maxnumber: number;
  readonly salt: string;
}

/** So many hashes run between two looks at the abort signal. */
const together = 500;

/** Finds the number whose hash is the challenge, and returns the answer to send. It takes about a second. */
export async function solveCaptcha(json: unknown, signal?: AbortSignal): Promise<string> {
  const given: Partial<Challenge> = Object(json);
  const { challenge, maxnumber, salt } = given;
  if (challenge === undefined || maxnumber === undefined || salt === undefined) throw unexpectedAnswer();
  const encoder = new TextEncoder();
  for (let first = 0; first <= maxnumber; first += together) {
    const numbers = Array.from({ length: together }, (_, index) => first + index);
    const hashes = Promise.all(numbers.map((number) => crypto.subtle.digest('SHA-256', encoder.encode(salt + number))));
    const found = (await untilAborted(hashes, signal)).findIndex((hash) => hexOf(hash) === challenge);
    if (found >= 0) return btoa(JSON.stringify({ ...given, number: numbers[found] }));
  }
  throw unexpectedAnswer();
}

const hexOf = (hash: ArrayBuffer): string =>
  Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
