import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testField } from '../test/test-field.ts';
import {
  findFieldOfConstraint,
  foreignKeyName,
  linkKeyName,
  linkTableName,
  namePattern,
  orderIndexName,
  ownerKeyName,
  primaryKeyName,
  quoteIdentifier,
  quoteLiteral,
  relationIndexName,
  tableOf,
  uniqueIndexName,
} from './naming.ts';
import { testCollection } from './test-collection.ts';

const field = testField('text', {}, { id: 'x'.repeat(24) });
const collection = testCollection('Posts', [], { id: '01890000-0000-7000-8000-000000000000', fields: [field] });

const names = [
  uniqueIndexName(collection, field),
  foreignKeyName(collection, field),
  relationIndexName(collection, field),
  orderIndexName(collection),
  primaryKeyName(collection),
  linkTableName(collection, field),
  linkKeyName(collection, field),
  ownerKeyName(collection, field),
];

test('constraint names are unique, fit PostgreSQL, and never equal collection names', () => {
  assert.equal(new Set(names).size, names.length);
  for (const name of names) {
    assert.ok(name.length <= 63, name);
    assert.doesNotMatch(name, namePattern);
  }
});

test('a violated constraint leads to its field', () => {
  assert.equal(findFieldOfConstraint(collection, uniqueIndexName(collection, field)), field);
  assert.equal(findFieldOfConstraint(collection, foreignKeyName(collection, field)), field);
  assert.equal(findFieldOfConstraint(collection, 'other'), undefined);
  assert.equal(findFieldOfConstraint(collection, undefined), undefined);
});

test('identifiers and literals are quoted', () => {
  assert.equal(quoteIdentifier('a"b'), '"a""b"');
  assert.equal(quoteLiteral("o'c\\"), "'o''c\\'");
  assert.equal(tableOf(collection), 'records."Posts"');
});
