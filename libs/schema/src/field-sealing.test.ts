import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEnvelope, verifyPassword } from '@recordbus/crypto';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { createFieldSealing } from './field-sealing.ts';
import { PlainSecret } from './plain-secret.ts';
import { compileRecordReader } from './record-reader.ts';

const field = (name: string, type: string, options: object = {}): Field => ({
  id: name,
  name,
  type,
  required: false,
  system: false,
  options: { ...options },
});

const notes: Collection = {
  id: 'notes',
  name: 'notes',
  type: 'base',
  fields: [
    field('title', 'text'),
    field('note', 'text', { encrypted: true }),
    field('site', 'url', { encrypted: true }),
    field('extra', 'json', { encrypted: true }),
    field('pin', 'password'),
  ],
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
};

function sealingWith(key: string | undefined) {
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => warnings.push(message) };
  return { warnings, ...createFieldSealing({ envelope: createEnvelope(key), log }) };
}

const reader = compileRecordReader(notes);

/** What is stored, as the database would show it in a record. */
const shown = (stored: ReadonlyMap<string, unknown>): Record<string, unknown> => {
  const { extra, ...rest } = Object.fromEntries(stored);
  return { ...rest, ...(typeof extra === 'string' ? { extra: JSON.parse(extra) } : {}) };
};

describe('secrets of a record', () => {
  const body = { title: 'x', note: 'it is öpen', site: 'https://a.example/', extra: { a: [1, null] }, pin: 'sesame' };

  test('are sealed or hashed, the rest stays as it is', async () => {
    const { storeSecrets, openRecord } = sealingWith('a key');
    const stored = await storeSecrets(notes, reader.readNew(body));
    assert.deepEqual([...stored.keys()], Object.keys(body));
    assert.equal(stored.get('title'), 'x');
    for (const name of ['note', 'site']) assert.match(String(stored.get(name)), /^enc:1:[\w-]{16}:[\w-]+$/);
    assert.match(String(stored.get('extra')), /^"enc:1:[\w-]{16}:[\w-]+"$/);
    assert.equal(await verifyPassword(String(stored.get('pin')), 'sesame'), true);
    const record = shown(stored);
    openRecord(notes, record);
    assert.deepEqual({ ...record, pin: body.pin }, body);
  });

  test('hold nothing, and are stored so', async () => {
    const { storeSecrets } = sealingWith('a key');
    const empty = { note: '', site: null, extra: [] };
    assert.deepEqual(Object.fromEntries(await storeSecrets(notes, reader.readNew(empty))), { ...empty, extra: '[]' });
  });

  test('are in plain text without a key, which is said once for each field', async () => {
    const { storeSecrets, openRecord, warnings } = sealingWith(undefined);
    for (const _ of [1, 2]) {
      const stored = await storeSecrets(notes, reader.readNew({ note: 'open', extra: 'text' }));
      assert.deepEqual(Object.fromEntries(stored), { note: 'open', extra: '"text"' });
      const record = shown(stored);
      sealingWith('a key that came later').openRecord(notes, record);
      openRecord(notes, record);
      assert.deepEqual(record, { note: 'open', extra: 'text' });
    }
    assert.equal(warnings.length, 2);
  });

  test('read as empty with another key, which is said once for each field', async () => {
    const stored = await sealingWith('a key').storeSecrets(notes, reader.readNew(body));
    const { openRecord, warnings } = sealingWith('another key');
    for (const _ of [1, 2]) {
      const record = shown(stored);
      openRecord(notes, record);
      assert.deepEqual([record.note, record.site, record.extra], ['', '', null]);
    }
    assert.equal(warnings.length, 3);
  });

  test('that begin like sealed ones are refused', () => {
    const refused = { note: 'must not begin with enc:1:', extra: 'must not begin with enc:1:' };
    assert.throws(() => reader.readNew({ title: 'enc:1:', note: 'enc:1:', extra: 'enc:1:x' }), {
      status: 422,
      details: refused,
    });
  });
});

test('values without a secret are handed on', async () => {
  const values = new Map<string, unknown>([['title', 'x']]);
  assert.equal(await sealingWith('a key').storeSecrets(notes, values), values);
});

test('a secret that was forgotten reaches no statement', () => {
  assert.throws(() => new PlainSecret('open sesame', 'password').toPostgres(), /must not be stored/);
});
