import { createHmac } from 'node:crypto';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What a token says; PocketBase's claims by default. */
export interface PocketBaseToken {
  readonly id: string;
  readonly collectionId: string;
  readonly type?: string;
  readonly refreshable?: boolean;
  readonly exp?: number;
}

let tokens = 0;

/** Returns a time in about an hour, each call another one: tokens of one account that end at once are one session. */
function nextEnd(): number {
  tokens += 1;
  return Math.floor(Date.now() / 1000) + 3600 + tokens;
}

/** Signs a token as PocketBase 0.40 does: HS256 by the record's `tokenKey` and the collection's secret. */
export function signPocketBaseToken(
  key: string,
  { type = 'auth', refreshable = true, exp = nextEnd(), ...claims }: PocketBaseToken,
  header: Readonly<Record<string, unknown>> = { alg: 'HS256', typ: 'JWT' },
): string {
  const signed = `${encode(header)}.${encode({ ...claims, exp, refreshable, type })}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}
