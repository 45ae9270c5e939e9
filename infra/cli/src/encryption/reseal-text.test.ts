import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEnvelope } from '@recordbus/crypto';
import { resealText } from './reseal-text.ts';

const keys = { current: createEnvelope('new'), former: createEnvelope('old') };
const stranger = createEnvelope('another');

test('a sealed value is sealed anew, once', () => {
  const first = resealText(keys.former.seal('hush'), keys);
  assert.deepEqual([keys.current.open(first.text), first.encrypted, first.unreadable], ['hush', 1, 0]);
  assert.deepEqual(resealText(first.text, keys), { text: first.text, encrypted: 0, unreadable: 0 });
});

test('values within JSON change where they stand, and nothing around them does', () => {
  const given = JSON.stringify({ a: keys.former.seal('one'), 'b"': [keys.current.seal('two'), 'enc:1:no'], c: 'ü\n' });
  const { text, encrypted } = resealText(given, keys);
  const { a, 'b"': b, c } = JSON.parse(text);
  assert.deepEqual([keys.current.open(a), keys.current.open(b[0]), b[1], c], ['one', 'two', 'enc:1:no', 'ü\n']);
  assert.equal(encrypted, 1);
});

test('a value that neither key opens stays, and is counted', () => {
  const sealed = stranger.seal('x');
  assert.deepEqual(resealText(sealed, keys), { text: sealed, encrypted: 0, unreadable: 1 });
});

test('without a former key nothing opens that is sealed', () => {
  const sealed = stranger.seal('x');
  assert.equal(resealText(sealed, { ...keys, former: createEnvelope(undefined) }).unreadable, 1);
});
