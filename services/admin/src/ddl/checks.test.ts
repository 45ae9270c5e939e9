import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { testCollection } from '../../test/test-collection.ts';
import { planChecks } from './checks.ts';

const check = (before: object[], after: object[]) =>
  planChecks(testCollection('posts', before), testCollection('articles', after), createValueCipher('a key')).map(
    ({ place, table, where }) => [place, table, where],
  );
const table = 'records."posts"';
const field = (type: string, rest: object = {}) => ({ name: 'a', type, ...rest });
const select = (multiple: boolean, rest: object = {}) =>
  field('select', { options: { values: ['x'], multiple }, ...rest });

test('a wider definition needs no check', () => {
  assert.deepEqual(check([field('text', { required: true, options: { unique: true, min: 1 } })], [field('text')]), []);
  assert.deepEqual(check([field('text')], [{ name: 'b', type: 'text' }]), []);
});

test('required checks for empty values in the current table', () => {
  const required = { required: true };
  const cases: [object, object, string][] = [
    [field('text'), field('text', required), `coalesce("a", '') = ''`],
    [field('number'), field('number', required), '"a" is null'],
    [field('json'), field('json', required), `coalesce("a", '[]') in ('[]', '""')`],
    [select(false), select(true, required), `coalesce("a", '') = ''`],
    [select(false), { ...select(false, required), name: 'b', id: 'a' }, `coalesce("a", '') = ''`],
  ];
  for (const [before, after, where] of cases) {
    const name = 'name' in after ? after.name : '';
    assert.deepEqual(check([before], [after]), [[`fields.${name}.required`, table, where]]);
  }
});

test('a new required field has no value in any row', () => {
  assert.deepEqual(check([], [field('text', { required: true })]), [['fields.a.required', table, 'true']]);
});

test('unique checks for duplicates, and options as their type defines', () => {
  assert.deepEqual(check([field('number')], [field('number', { options: { unique: true, min: 1 } })]), [
    [
      'fields.a.options.unique',
      table,
      `"a" in (select "a" from ${table} where "a" is not null group by "a" having count(*) > 1)`,
    ],
    ['fields.a.options.min', table, `"a" < '1'::double precision`],
  ]);
});
