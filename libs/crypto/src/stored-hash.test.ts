import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash } from '@node-rs/argon2';
import { hash as bcryptHash } from '@node-rs/bcrypt';
import { checksOf, findRightForm, hashPassword, needsRehash, needsReset, verifyPassword } from './password-hash.ts';
import { isStoredHash, useOf } from './stored-hash.ts';

const salt = 'c2FsdHNhbHRzYWx0c2FsdA';
const digest = 'A'.repeat(43);
const argon2 = (parameters: string, kind = 'argon2id') => `$${kind}$v=19$${parameters}$${salt}$${digest}`;
const bcrypt = (cost: string, version = '2b') => `$${version}$${cost}$${'a'.repeat(53)}`;

test("a hash may take four times our own one's memory and passes [auth §2.2]", () => {
  const uses = {
    [argon2('m=19456,t=2,p=1')]: 'own',
    [argon2('m=19456,t=2,p=16')]: 'foreign',
    [argon2('m=9216,t=4,p=1')]: 'foreign',
    [argon2('m=19456,t=8,p=1')]: 'foreign',
    [argon2('m=155648,t=1,p=4')]: 'foreign',
    [argon2('m=155649,t=1,p=4')]: 'unusable',
    [argon2('m=65536,t=3,p=4')]: 'unusable',
    [argon2('m=1048576,t=1,p=1')]: 'unusable',
    [argon2('m=8,t=999,p=1')]: 'foreign',
    [argon2('m=19456,t=0,p=1')]: 'unusable',
    [argon2('m=19456,t=2,p=17')]: 'unusable',
    [argon2('m=19456,t=2,p=1', 'argon2i')]: 'weak',
    [argon2('m=19456,t=2,p=1', 'argon2d')]: 'weak',
    [argon2('m=155649,t=1,p=1', 'argon2i')]: 'unusable',
    [bcrypt('04')]: 'foreign',
    [bcrypt('14', '2a')]: 'foreign',
    [bcrypt('10', '2y')]: 'foreign',
    [bcrypt('15')]: 'unusable',
    [bcrypt('31')]: 'unusable',
    [bcrypt('03')]: 'unusable',
    [bcrypt('10', '2x')]: 'unusable',
    [`$scrypt$ln=17,r=8,p=1$${salt}$${digest}`]: 'unusable',
    [`$pbkdf2-sha256$29000$${salt}$${digest}`]: 'unusable',
    [`$6$rounds=5000$${salt}$${digest}`]: 'unusable',
  };
  for (const [text, use] of Object.entries(uses)) {
    assert.equal(useOf(text), use, text);
    assert.ok(isStoredHash(text), text);
  }
});

test('a password that only begins like a hash is a password', () => {
  for (const text of [
    '$2b$10$short',
    '$ecret$of$the$house$of$a$long$password',
    `$6$${'ä'.repeat(30)}`,
    'argon2id',
    '',
    `${argon2('m=8,t=1,p=1')}${'A'.repeat(512)}`,
  ])
    assert.equal(isStoredHash(text), false, text);
});

test('how many hashes are computed depends on the password only, never on the account [auth §4.1]', () => {
  const hashes = [undefined, argon2('m=19456,t=2,p=1'), argon2('m=1048576,t=20,p=1'), bcrypt('31'), '$6$x', ''];
  for (const [password, count] of [
    ['plain ascii', 1],
    ['pässword'.normalize('NFC'), 1],
    ['pässword'.normalize('NFD'), 2],
  ] as const)
    for (const stored of hashes) {
      const checks = checksOf(stored, password);
      assert.equal(checks.length, count, `${password} ${stored}`);
      // Whatever is stored, nothing above the limit is computed.
      for (const { passwordHash } of checks) assert.notEqual(useOf(passwordHash), 'unusable');
    }
});

test('both forms of a password are right, whichever was set [auth §2.1]', async () => {
  const [composed, decomposed] = ['Pässwörd', 'Pässwörd'].map((text, index) => text.normalize(index ? 'NFD' : 'NFC'));
  assert.ok(composed && decomposed && composed !== decomposed);
  for (const set of [composed, decomposed])
    for (const sent of [composed, decomposed]) assert.ok(await verifyPassword(await hashPassword(set), sent));
  // An earlier version has hashed what was sent.
  const earlier = await hash(decomposed);
  const form = await findRightForm(earlier, decomposed);
  assert.equal(form, decomposed);
  assert.ok(needsRehash(await hash(decomposed, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }), form));
  assert.equal(needsRehash(await hashPassword(decomposed), composed), false);
});

test('bcrypt and argon2i hashes are checked, and a broken one matches nothing', async () => {
  const stored = await bcryptHash('correct horse', 4);
  assert.ok(await verifyPassword(stored, 'correct horse'));
  assert.equal(await verifyPassword(stored, 'wrong horse'), false);
  assert.ok(needsRehash(stored, 'correct horse'));
  assert.equal(needsReset(stored), false);
  const weak = await hash('correct horse', { algorithm: 1, memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  assert.match(weak, /^\$argon2i\$/);
  assert.ok(await verifyPassword(weak, 'correct horse'));
  assert.ok(needsReset(weak));
  for (const broken of [argon2('m=1,t=1,p=16'), argon2('m=19456,t=2,p=0'), `${argon2('m=64,t=1,p=1').slice(0, -1)}B`])
    assert.equal(await verifyPassword(broken, 'correct horse'), false, broken);
});
