import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createValueCipher, verifyPassword } from '@recordbus/crypto';
import { createFieldEncryption } from './field-encryption.ts';
import { PlainSecret } from './plain-secret.ts';
import { compileRecordReader } from './record-reader.ts';
import { type TestField, testCollection } from './test-collection.ts';

const encrypted = (name: string, type = 'text'): TestField => ({ name, type, options: { encrypted: true } });

const notes = testCollection('notes', [
  { name: 'title' },
  encrypted('note'),
  encrypted('site', 'url'),
  encrypted('extra', 'json'),
  { name: 'pin', type: 'password' },
]);

function encryptionWith(key: string | undefined) {
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => warnings.push(message) };
  return { warnings, ...createFieldEncryption({ cipher: createValueCipher(key), log }) };
}

const reader = compileRecordReader(notes);

/** Returns the stored values as the database shows them in a record. */
const shown = (stored: ReadonlyMap<string, unknown>): Record<string, unknown> => {
  const { extra, ...rest } = Object.fromEntries(stored);
  return { ...rest, ...(typeof extra === 'string' ? { extra: JSON.parse(extra) } : {}) };
};

describe("a record's secrets", () => {
  const body = { title: 'x', note: 'it is öpen', site: 'https://a.example/', extra: { a: [1, null] }, pin: 'sesame' };

  test('are encrypted or hashed, and other values stay unchanged', async () => {
    const { storeSecrets, decryptRecord } = encryptionWith('a key');
    const stored = await storeSecrets(notes, await reader.readNew(body));
    assert.deepEqual([...stored.keys()], Object.keys(body));
    assert.equal(stored.get('title'), 'x');
    for (const name of ['note', 'site']) assert.match(String(stored.get(name)), /^enc:1:[\w-]{16}:[\w-]+$/);
    assert.match(String(stored.get('extra')), /^"enc:1:[\w-]{16}:[\w-]+"$/);
    assert.equal(await verifyPassword(String(stored.get('pin')), 'sesame'), true);
    const record = shown(stored);
    await decryptRecord(notes, record);
    assert.deepEqual({ ...record, pin: body.pin }, body);
  });

  test('are stored unchanged when empty', async () => {
    const { storeSecrets } = encryptionWith('a key');
    const empty = { note: '', site: null, extra: [] };
    assert.deepEqual(Object.fromEntries(await storeSecrets(notes, await reader.readNew(empty))), {
      ...empty,
      extra: '[]',
    });
  });

  test('are plain text without a key, with one warning for each field', async () => {
    const { storeSecrets, decryptRecord, warnings } = encryptionWith(undefined);
    for (const _ of [1, 2]) {
      const stored = await storeSecrets(notes, await reader.readNew({ note: 'open', extra: 'text' }));
      assert.deepEqual(Object.fromEntries(stored), { note: 'open', extra: '"text"' });
      const record = shown(stored);
      await encryptionWith('a key that came later').decryptRecord(notes, record);
      await decryptRecord(notes, record);
      assert.deepEqual(record, { note: 'open', extra: 'text' });
    }
    assert.equal(warnings.length, 2);
  });

  test('read as empty with another key, with one warning for each field', async () => {
    const stored = await encryptionWith('a key').storeSecrets(notes, await reader.readNew(body));
    const { decryptRecord, warnings } = encryptionWith('another key');
    for (const _ of [1, 2]) {
      const record = shown(stored);
      await decryptRecord(notes, record);
      assert.deepEqual([record.note, record.site, record.extra], ['', '', null]);
    }
    assert.equal(warnings.length, 3);
  });

  test('that begin like ciphertexts are refused', async () => {
    const refused = { note: 'must not begin with enc:1:', extra: 'must not begin with enc:1:' };
    await assert.rejects(() => reader.readNew({ title: 'enc:1:', note: 'enc:1:', extra: 'enc:1:x' }), {
      status: 422,
      details: refused,
    });
  });
});

test('values without a secret are passed through', async () => {
  const values = new Map<string, unknown>([['title', 'x']]);
  assert.equal(await encryptionWith('a key').storeSecrets(notes, values), values);
});

test('a secret that was not replaced cannot reach a statement', () => {
  assert.throws(() => new PlainSecret('open sesame', 'password').toPostgres(), /must not be stored/);
});

test('large encrypted fields are decrypted in several event loop turns [cost §4.2]', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `f${index}`);
  const large = testCollection(
    'large',
    names.map((name) => encrypted(name, 'json')),
  );
  const { storeSecrets, decryptRecord } = encryptionWith('a key');
  const value = Array.from({ length: 50_000 }, (_, index) => index);
  const body = Object.fromEntries(names.map((name) => [name, value]));
  const stored = await storeSecrets(large, await compileRecordReader(large).readNew(body));
  const record = Object.fromEntries([...stored].map(([name, text]) => [name, JSON.parse(String(text))]));
  let turns = 0;
  const turn = () => {
    turns += 1;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  await decryptRecord(large, record);
  clearImmediate(timer);
  assert.deepEqual(record, body);
  assert.ok(turns > 1, `${turns} turns`);
});
