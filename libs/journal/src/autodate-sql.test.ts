import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '@recordbus/schema';
import { testCollection } from '@recordbus/schema/testing';
import { autodates, newValue, nextValue } from './autodate-sql.ts';
import { nowSec } from './version-sql.ts';

const autodate = (name: string, onCreate: boolean, onUpdate: boolean): Field => ({
  id: name,
  name,
  type: 'autodate',
  required: false,
  system: false,
  options: { onCreate, onUpdate },
});
const born = autodate('born', true, false);
const touched = autodate('Touched', false, true);
const never = autodate('never', false, false);
const both = autodate('both', true, true);

test('a new row has the current time in a field that a create sets, unless a time is given', () => {
  assert.deepEqual(
    [born, touched, never, both].map((field) => newValue(field, '$1')),
    [`coalesce($1, ${nowSec})`, '$1', '$1', `coalesce($1, ${nowSec})`],
  );
});

test('an update sets the current time in fields with onUpdate, and keeps other values', () => {
  assert.deepEqual(
    [born, touched, never, both].map((field) => nextValue(field, 't')),
    ['t."born"', nowSec, 't."never"', nowSec],
  );
});

test('an update that names no field assigns the times that every update sets', () => {
  const collection = testCollection('timed', [born, touched, never, both]);
  assert.deepEqual(autodates(collection), [
    { name: '"Touched"', value: nowSec },
    { name: '"both"', value: nowSec },
  ]);
  assert.deepEqual(autodates({ ...collection, fields: [born, never] }), []);
});
