import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyPassword } from '@recordbus/crypto';
import { PlainSecret } from './plain-secret.ts';
import { storeSecrets } from './store-secrets.ts';

test('of a password its hash is stored, the rest as it is', async () => {
  const values = new Map<string, unknown>([
    ['title', 'x'],
    ['pin', new PlainSecret('open sesame')],
    ['none', null],
  ]);
  const stored = await storeSecrets(values);
  assert.deepEqual([...stored.keys()], ['title', 'pin', 'none']);
  assert.equal(stored.get('title'), 'x');
  assert.match(String(stored.get('pin')), /^\$argon2id\$/);
  assert.equal(await verifyPassword(String(stored.get('pin')), 'open sesame'), true);
});

test('values without a secret are handed on', async () => {
  const values = new Map<string, unknown>([['title', 'x']]);
  assert.equal(await storeSecrets(values), values);
});

test('a secret that was forgotten reaches no statement', () => {
  assert.throws(() => new PlainSecret('open sesame').toPostgres(), /must not be stored/);
});
