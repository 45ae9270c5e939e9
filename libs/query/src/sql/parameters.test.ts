import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNamedParameters, createParameters } from './parameters.ts';
import type { RequestValues } from './request-values.ts';

interface Given {
  readonly id: string;
  readonly versions: readonly string[] | null;
  readonly fields: ReadonlyMap<string, unknown>;
}

const request: RequestValues = {
  method: 'GET',
  auth: undefined,
  body: undefined,
  query: (name: string) => `the ${name}`,
  header: () => undefined,
};
const ofQuery = (name: string) => (values: RequestValues) => values.query(name);

test('a name has one number, even if it is used several times', () => {
  const parameters = createNamedParameters<Given>();
  const text = [
    parameters.named('id', 'text'),
    parameters.member('fields', 'b', 'bigint'),
    parameters.named('id', 'text'),
    parameters.fixed(7, 'bigint'),
    parameters.member('fields', 'a', 'text'),
    parameters.member('fields', 'b', 'bigint'),
  ];
  assert.deepEqual(text, ['$1::text', '$2::bigint', '$1::text', '$3::bigint', '$4::text', '$2::bigint']);
  const record = { id: 'r1', versions: null, fields: new Map<string, unknown>([['b', 2]]) };
  assert.deepEqual(parameters.valuesFrom(record), ['r1', 2, 7, null]);
});

test('values that no parameter uses are not sent', () => {
  const parameters = createNamedParameters<Given>();
  parameters.named('versions', 'text[]');
  assert.deepEqual(parameters.valuesFrom({ id: 'r1', versions: ['1'], fields: new Map() }), [['1']]);
});

test("rules' parameters join the same list", () => {
  const parameters = createNamedParameters<Given>();
  const text = [
    parameters.ofRequest('query.q', 'text', ofQuery('q')),
    parameters.named('id', 'text'),
    parameters.ofRequest('query.q', 'text', ofQuery('q')),
  ];
  assert.deepEqual(text, ['$1::text', '$2::text', '$1::text']);
  assert.deepEqual(parameters.valuesFrom({ id: 'r1', versions: null, fields: new Map() }, request), ['the q', 'r1']);
});

test('a value that is missing is an error, and null is a value', () => {
  const parameters = createNamedParameters<Given>();
  parameters.named('versions', 'text[]');
  assert.deepEqual(parameters.valuesFrom({ id: 'r1', versions: null, fields: new Map() }), [null]);
  assert.throws(() => parameters.values(), /needs a value for versions/);
  // @ts-expect-error: a name that Given does not have
  assert.equal(parameters.named('ids', 'text'), '$2::text');
  // @ts-expect-error: versions are missing
  assert.throws(() => parameters.valuesFrom({ id: 'r1', fields: new Map() }), /needs a value for versions/);
  // @ts-expect-error: id is not a map
  assert.equal(parameters.member('id', 'a', 'text'), '$3::text');
});

test('a request value needs a request', () => {
  const parameters = createParameters();
  assert.equal(parameters.fixed('a', 'text'), '$1::text');
  assert.deepEqual(parameters.values(), ['a']);
  assert.throws(() => {
    parameters.ofRequest('query.q', 'text', ofQuery('q'));
    parameters.values();
  }, /needs query.q of a request/);
});
