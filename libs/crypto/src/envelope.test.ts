import assert from 'node:assert/strict';
import { createDecipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { loadConfig } from '@recordbus/shared/config';
import { createEnvelope, encryptionKey, isSealed } from './envelope.ts';

const key = randomBytes(32);

test('a text comes back, whatever is in it', () => {
  const envelope = createEnvelope('a passphrase');
  for (const text of ['', 'secret', 'Zürich 🌍', 'enc:1:looks:sealed', 'x'.repeat(100_000)])
    assert.equal(envelope.open(envelope.seal(text)), text);
});

test('the envelope has the form of contract §7 and anyone with the key can open it', () => {
  const sealed = createEnvelope(key.toString('hex')).seal('secret');
  const [, iv, ciphertext] = /^enc:1:([A-Za-z0-9_-]+):([A-Za-z0-9_-]+)$/.exec(sealed) ?? [];
  const ivBytes = Buffer.from(iv ?? '', 'base64url');
  const bytes = Buffer.from(ciphertext ?? '', 'base64url');
  assert.equal(ivBytes.length, 12);
  assert.equal(bytes.length, 'secret'.length + 16);
  const decipher = createDecipheriv('aes-256-gcm', key, ivBytes);
  decipher.setAuthTag(bytes.subarray(-16));
  assert.equal(decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8'), 'secret');
});

test('hex, upper-case hex and base64 with or without padding name the same key', () => {
  const sealed = createEnvelope(key.toString('hex')).seal('secret');
  const base64 = key.toString('base64');
  for (const same of [key.toString('hex').toUpperCase(), base64, base64.replace('=', ''), key.toString('base64url')])
    assert.equal(createEnvelope(same).open(sealed), 'secret');
});

test('the same text is never sealed to the same bytes', () => {
  const envelope = createEnvelope('a passphrase');
  assert.notEqual(envelope.seal('secret'), envelope.seal('secret'));
});

test('a text that was stored before there was a key passes through', () => {
  assert.equal(createEnvelope('a passphrase').open('plain'), 'plain');
  assert.equal(createEnvelope('a passphrase').open(''), '');
});

test('a wrong key, no key, and a damaged envelope open nothing', () => {
  const envelope = createEnvelope('a passphrase');
  const sealed = envelope.seal('secret');
  assert.ok(isSealed(sealed));
  assert.equal(createEnvelope('another passphrase').open(sealed), undefined);
  assert.equal(createEnvelope(undefined).open(sealed), undefined);
  for (const damaged of [
    'enc:1:',
    'enc:1:abc:def',
    `${sealed}AA`,
    `${sealed.slice(0, -2)}AA`,
    `${sealed}=`,
    `${sealed}\n`,
  ])
    assert.equal(envelope.open(damaged), undefined, damaged);
});

test('without a key texts stay as they are', () => {
  const envelope = createEnvelope(undefined);
  assert.equal(envelope.isSealing, false);
  assert.equal(envelope.seal('plain'), 'plain');
  assert.equal(envelope.open('plain'), 'plain');
  assert.equal(createEnvelope('').isSealing, false);
});

test('SERVICE_ENCRYPTION_KEY is optional', () => {
  assert.deepEqual(loadConfig({ encryptionKey }, {}), { encryptionKey: undefined });
  assert.deepEqual(loadConfig({ encryptionKey }, { SERVICE_ENCRYPTION_KEY: 'k' }), { encryptionKey: 'k' });
});
