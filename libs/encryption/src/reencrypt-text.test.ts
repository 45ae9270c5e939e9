import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { reencryptText } from './reencrypt-text.ts';

const ciphers = { current: createValueCipher('new'), former: createValueCipher('old') };
const stranger = createValueCipher('another');

test('an encrypted value is re-encrypted once', () => {
  const first = reencryptText(ciphers.former.encrypt('hush'), ciphers);
  assert.deepEqual([ciphers.current.decrypt(first.text), first.encrypted, first.unreadable], ['hush', 1, 0]);
  assert.deepEqual(reencryptText(first.text, ciphers), { text: first.text, encrypted: 0, unreadable: 0 });
});

test('values within JSON are replaced in place, and the rest is unchanged', () => {
  const original = JSON.stringify({
    a: ciphers.former.encrypt('one'),
    'b"': [ciphers.current.encrypt('two'), 'enc:1:no'],
    c: 'ü\n',
  });
  const { text, encrypted } = reencryptText(original, ciphers);
  const { a, 'b"': b, c } = JSON.parse(text);
  assert.deepEqual(
    [ciphers.current.decrypt(a), ciphers.current.decrypt(b[0]), b[1], c],
    ['one', 'two', 'enc:1:no', 'ü\n'],
  );
  assert.equal(encrypted, 1);
});

test('a value that neither key decrypts stays and is counted', () => {
  const value = stranger.encrypt('x');
  assert.deepEqual(reencryptText(value, ciphers), { text: value, encrypted: 0, unreadable: 1 });
});

test('without a former key no encrypted value is readable', () => {
  const value = stranger.encrypt('x');
  assert.equal(reencryptText(value, { ...ciphers, former: createValueCipher(undefined) }).unreadable, 1);
});
