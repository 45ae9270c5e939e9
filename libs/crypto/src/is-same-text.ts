import { timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that depends on their lengths only. */
export function isSameText(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
