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

test('a value is null or valid for its type', () => {
  assert.deepEqual(
    propertiesOf(field('title', 'text'), field('n', 'number'), field('tags', 'select', { multiple: true })),
    {
      title: { type: ['string', 'null'] },
      n: { type: ['number', 'null'] },
      tags: { type: ['array', 'null'], items: { type: 'string' } },
    },
  );
});

test('fields that events leave out are not described [events §2.4]', () => {
  assert.deepEqual(propertiesOf(field('pin', 'password'), field('note', 'text', { encrypted: true })), {});
});

test('json and unknown types may be anything', () => {
  assert.deepEqual(propertiesOf(field('meta', 'json'), field('x', 'of a later version')), { meta: {}, x: {} });
});
