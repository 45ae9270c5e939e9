import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Collection, Field } from '@recordbus/schema';
import { testCollection } from '../../test/test-collection.ts';
import { eventRecordSchema } from './event-record-schema.ts';

const field = (name: string, type: string, options: object = {}, collection?: string): Field => ({
  id: name,
  name,
  type,
  required: false,
  system: false,
  options: { ...options },
  ...(collection && { collection }),
});

const collectionOf = (...fields: readonly Field[]): Collection => ({ ...testCollection('c', []), fields });

const propertiesOf = (...fields: readonly Field[]) => {
  const { properties } = eventRecordSchema(collectionOf(...fields));
  const { id, created, updated, ...own } = properties as Record<string, unknown>;
  assert.ok(id && created && updated);
  return own;
};

test('a value may be null, and is else what its type says', () => {
  assert.deepEqual(
    propertiesOf(field('title', 'text'), field('n', 'number'), field('tags', 'select', { multiple: true })),
    {
      title: { type: ['string', 'null'] },
      n: { type: ['number', 'null'] },
      tags: { type: ['array', 'null'], items: { type: 'string' } },
    },
  );
});

test('what never leaves in an event is not described (contract §2)', () => {
  assert.deepEqual(propertiesOf(field('pin', 'password'), field('note', 'text', { encrypted: true })), {});
});

test('json, and a type that is not known here, may be anything', () => {
  assert.deepEqual(propertiesOf(field('meta', 'json'), field('x', 'of a later version')), { meta: {}, x: {} });
});
