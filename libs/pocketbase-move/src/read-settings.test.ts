import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './read-settings.ts';

const variable = 'PB_ENCRYPTION_KEY';
const key = '0123456789abcdef0123456789abcdef';

/** What PocketBase 0.40.4 makes of the settings with this key (tools/security/encrypt.go). */
const encrypted = 'zbGT6Flr3runD9cSW9a+a2ZiSSZrcWb5tEOEvHKBUUMz5eMvIQC67HLj/R+3/9NvkRiqvazlBkVgpZMrELoKAzao1Sc/c3A=';
const settings = { s3: { enabled: true, bucket: 'files ü' } };

test('encrypted settings are read with their key [move §2.5]', () => {
  assert.deepEqual(readSettings(encrypted, { variable, key }), settings);
  assert.equal(readSettings(encrypted, undefined), undefined);
});

test('plain settings are read whatever the key', () => {
  assert.deepEqual(readSettings(JSON.stringify(settings), { variable, key: 'no key' }), settings);
  assert.equal(readSettings('', { variable, key }), undefined);
});

test('a wrong key and damaged settings are refused', () => {
  const refused = (stored: string, wrong: string, message: RegExp) =>
    assert.throws(() => readSettings(stored, { variable, key: wrong }), message);
  refused(encrypted, `${key.slice(0, -1)}0`, /cannot be decrypted with the key in PB_ENCRYPTION_KEY/);
  refused(`A${encrypted.slice(1)}`, key, /cannot be decrypted/);
  refused('short', key, /cannot be decrypted/);
  refused(encrypted, 'short', /must have 32 characters/);
});
