import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Client } from '../harness/clients/client.ts';

/** Solves a proof of work, as a widget does. */
export async function solveCaptcha(guest: Client, collection: string, change: object = {}): Promise<string> {
  const { json, status } = await guest.get(`/api/v1/auth/${collection}/captcha`);
  assert.equal(status, 200);
  const given = json as Record<string, unknown>;
  const hashOf = (number: number) => createHash('sha256').update(`${given.salt}${number}`).digest('hex');
  let number = 0;
  while (hashOf(number) !== given.challenge) number += 1;
  return Buffer.from(JSON.stringify({ ...given, number, ...change })).toString('base64');
}

/** Makes bodies of new accounts, each with an address of its own. */
export function newAccounts(name: string): (more?: object) => { email: string; password: string } {
  let count = 0;
  return (more = {}) => {
    count += 1;
    return { email: `${name}${count}@example.com`, password: 'a long and winding password', ...more };
  };
}
