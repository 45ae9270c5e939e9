import assert from 'node:assert/strict';
import { createDecipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { loadConfig } from '@recordbus/process/config';
import { createValueCipher, encryptionKey, isCiphertext } from './value-cipher.ts';

const key = randomBytes(32);

test('decrypting returns any text that was encrypted', () => {
  const cipher = createValueCipher('a passphrase');
  for (const text of ['', 'secret', 'Zürich 🌍', 'enc:1:looks:encrypted', 'x'.repeat(100_000), 'x'.repeat(20_000_000)])
    assert.equal(cipher.decrypt(cipher.encrypt(text)), text);
});

test('an encrypted text has the documented form and can be decrypted with the key alone [encryption §2.1]', () => {
  const stored = createValueCipher(key.toString('hex')).encrypt('secret');
  const [, iv, ciphertext] = /^enc:1:([A-Za-z0-9_-]+):([A-Za-z0-9_-]+)$/.exec(stored) ?? [];
  const ivBytes = Buffer.from(iv ?? '', 'base64url');
  const bytes = Buffer.from(ciphertext ?? '', 'base64url');
  assert.equal(ivBytes.length, 12);
  assert.equal(bytes.length, 'secret'.length + 16);
  const decipher = createDecipheriv('aes-256-gcm', key, ivBytes);
  decipher.setAuthTag(bytes.subarray(-16));
  assert.equal(decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8'), 'secret');
});

test('hex, upper-case hex, and base64 with or without padding name the same key [encryption §2.2]', () => {
  const stored = createValueCipher(key.toString('hex')).encrypt('secret');
  const base64 = key.toString('base64');
  for (const same of [key.toString('hex').toUpperCase(), base64, base64.replace('=', ''), key.toString('base64url')])
    assert.equal(createValueCipher(same).decrypt(stored), 'secret');
});

test('encrypting the same text twice gives different ciphertexts', () => {
  const cipher = createValueCipher('a passphrase');
  assert.notEqual(cipher.encrypt('secret'), cipher.encrypt('secret'));
});

test('a text that was stored before there was a key is returned unchanged', () => {
  assert.equal(createValueCipher('a passphrase').decrypt('plain'), 'plain');
  assert.equal(createValueCipher('a passphrase').decrypt(''), '');
});

test('a wrong key, no key and a damaged ciphertext decrypt to undefined', () => {
  const cipher = createValueCipher('a passphrase');
  const stored = cipher.encrypt('secret');
  assert.ok(isCiphertext(stored));
  assert.equal(createValueCipher('another passphrase').decrypt(stored), undefined);
  assert.equal(createValueCipher(undefined).decrypt(stored), undefined);
  for (const damaged of [
    'enc:1:',
    'enc:1:abc:def',
    `${stored}AA`,
    // Ends in the byte 0, which the ciphertext itself may do.
    `${stored.slice(0, -2)}${stored.endsWith('AA') ? 'AQ' : 'AA'}`,
    `${stored}=`,
    `${stored}\n`,
  ])
    assert.equal(cipher.decrypt(damaged), undefined, damaged);
});

test('without a key texts stay plain [encryption §4.1]', () => {
  const cipher = createValueCipher(undefined);
  assert.equal(cipher.isEncrypting, false);
  assert.equal(cipher.encrypt('plain'), 'plain');
  assert.equal(cipher.decrypt('plain'), 'plain');
  assert.equal(createValueCipher('').isEncrypting, false);
});

test('SERVICE_ENCRYPTION_KEY is optional', () => {
  assert.deepEqual(loadConfig({ encryptionKey }, {}), { encryptionKey: undefined });
  assert.deepEqual(loadConfig({ encryptionKey }, { SERVICE_ENCRYPTION_KEY: 'k' }), { encryptionKey: 'k' });
});
