import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { z } from 'zod';
import { toJsonSchema } from './answers.ts';
import { mapOf } from './map-of.ts';

const texts = mapOf(z.string('must be text'), 'must be an object with texts');

test('every member from the client is a member, also __proto__', () => {
  const given = JSON.parse('{"a":"1","__proto__":"2","constructor":"3"}');
  assert.deepEqual(Object.entries(texts.parse(given)), [
    ['a', '1'],
    ['constructor', '3'],
    ['__proto__', '2'],
  ]);
  assert.equal(Object.getPrototypeOf(texts.parse(JSON.parse('{"__proto__":"2"}'))), Object.prototype);
});

test('each wrong member is named', () => {
  const wrong = texts.safeParse(JSON.parse('{"a":1,"__proto__":{"b":1}}'));
  assert.ok(!wrong.success);
  assert.deepEqual(Object.entries(describeIssues(wrong.error)), [
    ['a', 'must be text'],
    ['__proto__', 'must be text'],
  ]);
  for (const given of [null, [], 'a', undefined]) assert.equal(texts.safeParse(given).success, false);
});

test('the API document describes it like a record', () => {
  assert.deepEqual(
    toJsonSchema(texts.default({}), 'input').additionalProperties,
    toJsonSchema(z.record(z.string(), z.string()), 'input').additionalProperties,
  );
});
