import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, needsRehash, slowDigest, verifyPassword } from './password-hash.ts';

test("a hash is argon2id with OWASP's parameters and a new salt each time [auth §2.2]", async () => {
  const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.notEqual(first, second);
  assert.equal(needsRehash(first, 'correct horse'), false);
});

test('a password matches only exactly: no trimming, no case folding [auth §2.1]', async () => {
  const passwordHash = await hashPassword('Pässword 🔑');
  assert.equal(await verifyPassword(passwordHash, 'Pässword 🔑'), true);
  for (const wrong of ['pässword 🔑', ' Pässword 🔑', 'Pässword 🔑 ', 'Pässword', ''])
    assert.equal(await verifyPassword(passwordHash, wrong), false, JSON.stringify(wrong));
});

test('an unknown user never matches, and costs a whole hash', async () => {
  const passwordHash = await hashPassword('correct horse');
  await verifyPassword(undefined, 'anything');
  // Processor time, because wall-clock time includes other processes' work.
  const medianWorkMs = async (work: () => Promise<unknown>) => {
    const durations: number[] = [];
    for (let run = 0; run < 9; run += 1) {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      durations.push((user + system) / 1000);
    }
    return durations.sort((a, b) => a - b)[4] ?? 0;
  };
  const knownMs = await medianWorkMs(() => verifyPassword(passwordHash, 'wrong'));
  const unknownMs = await medianWorkMs(() => verifyPassword(undefined, 'wrong'));
  assert.equal(await verifyPassword(undefined, 'wrong'), false);
  assert.ok(unknownMs > knownMs / 3 && unknownMs < knownMs * 3, `known ${knownMs} ms, unknown ${unknownMs} ms`);
});

test('a hash with other parameters needs a rehash', () => {
  const salt = 'c2FsdHNhbHRzYWx0c2FsdA';
  const digest = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  for (const prefix of [
    'argon2id$v=19$m=9216,t=4,p=1',
    'argon2id$v=19$m=19456,t=2,p=4',
    'argon2i$v=19$m=19456,t=2,p=1',
  ])
    assert.equal(needsRehash(`$${prefix}$${salt}$${digest}`, 'password'), true, prefix);
});

test('a slow digest depends on the secret and the salt', async () => {
  const [one, other] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)];
  const digest = await slowDigest('K7QM2RXA', one);
  assert.match(digest, /^[0-9a-f]{64}$/);
  assert.equal(await slowDigest('K7QM2RXA', one), digest);
  assert.notEqual(await slowDigest('K7QM2RXA', other), digest);
  assert.notEqual(await slowDigest('K7QM2RXB', one), digest);
});
