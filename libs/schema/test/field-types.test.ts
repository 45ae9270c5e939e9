import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ValueRefusal } from '../src/field-type.ts';
import { fieldTypeOf, fieldTypes } from '../src/fields/index.ts';
import { PlainSecret } from '../src/plain-secret.ts';
import { testField } from './test-field.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/fields.md'), 'utf8');
const types = [...fieldTypes.values()];
const sampleFields = types.flatMap((type) =>
  type.samples.map(({ options, values }) => ({ field: testField(type.name, options), values })),
);

test('each type has its section in the reference', () => {
  for (const { name, reference } of types) {
    const section = /^fields §(3\.\d+)$/.exec(reference)?.[1];
    assert.ok(section && page.includes(`\n### ${section} ${name}\n`), `${reference} is not the section "${name}"`);
  }
});

test('the reference says what an empty text means for each type', () => {
  const table = new Map(
    [...page.matchAll(/^\| `([\w ]+)` \| (is null|is stored)/gm)].flatMap(([, names = '', meaning = '']) =>
      names.split(' ').map((name): [string, string] => [name, meaning]),
    ),
  );
  for (const { name, emptyTextIsNull, isServerSet } of types)
    assert.equal(table.get(name), isServerSet ? undefined : emptyTextIsNull ? 'is null' : 'is stored', name);
});

test("each type takes its samples' values", () => {
  for (const { field, values } of sampleFields) {
    const read = fieldTypeOf(field).compile(field);
    for (const value of values)
      assert.ok(
        value === '' || !(read(value) instanceof ValueRefusal),
        `${field.type} refuses ${JSON.stringify(value)}`,
      );
  }
});

test('each type has values in its samples, or stores what is not in the body', () => {
  const withoutValues = types.filter(({ samples }) => samples.every(({ values }) => values.length === 0));
  assert.deepEqual(
    withoutValues.map(({ name }) => name),
    ['autodate', 'relation', 'file'],
  );
});

test('a type that takes several values has a sample with one and a sample with several', () => {
  for (const { name, options, samples } of types) {
    const takesSeveral = options.safeParse({ ...samples[0].options, multiple: true }).success;
    const shapes = new Set(samples.map((sample) => sample.options?.multiple === true));
    assert.equal(shapes.size, takesSeveral ? 2 : 1, name);
  }
});

test('a form holds each sample value as text, a list as JSON', () => {
  for (const { field, values } of sampleFields) {
    const { formText } = fieldTypeOf(field);
    for (const value of values) {
      const part = typeof value === 'string' ? value : JSON.stringify(value);
      assert.deepEqual(formText(field).read([part]), value, `${field.type}: ${part}`);
    }
  }
});

test('a view shows values as their own type, as another type with the same column, or not at all', () => {
  for (const { field } of sampleFields) {
    const type = fieldTypeOf(field);
    if (type.viewType === undefined) continue;
    const shown = { ...field, type: type.viewType };
    assert.equal(fieldTypeOf(shown).columnType(shown), type.columnType(field), type.name);
    assert.equal(fieldTypeOf(shown).filterKind(shown), type.filterKind(field), type.name);
  }
});

test('a type is write-only where its values are secrets', () => {
  for (const { field, values } of sampleFields) {
    const type = fieldTypeOf(field);
    const read = values.map(type.compile(field));
    assert.equal(
      type.isWriteOnly === true,
      read.some((value) => value instanceof PlainSecret),
      type.name,
    );
    assert.equal(type.isWriteOnly === true, type.valueSchema(field).writeOnly === true, type.name);
  }
});
