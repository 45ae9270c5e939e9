import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedSettings } from '@recordbus/settings/testing';
import { findLanguage, languagesFrom, readLanguage } from './language.ts';

test('a language is read as people and programs write it [mail §2.7]', () => {
  for (const [written, read] of [
    ['de', 'de'],
    ['DE', 'de'],
    [' de-at ', 'de-AT'],
    ['de_AT', 'de-AT'],
    ['de_AT.UTF-8', 'de-AT'],
    ['de-AT-1996', 'de-AT'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['zh_TW', 'zh-TW'],
    ['es-419', 'es-419'],
    ['en-US-u-ca-gregory', 'en-US'],
  ])
    assert.equal(readLanguage(written), read, written);
});

test('what is no language is none [mail §2.7]', () => {
  for (const value of [
    '',
    ' ',
    'd',
    'german',
    'Deutsch (AT)',
    '__proto__',
    'constructor',
    'de\r\nBcc: eve@example.com',
    'de-AT\u0000',
    'de\u2028AT',
    `de-${'a'.repeat(1_000_000)}`,
    'd'.repeat(1_000_000),
    null,
    undefined,
    7,
    ['de'],
    { toString: () => 'de' },
  ])
    assert.equal(readLanguage(value), undefined, String(value).slice(0, 40));
});

test('a region falls back to its script and language', () => {
  assert.deepEqual(languagesFrom('zh-Hant-TW'), ['zh-Hant-TW', 'zh-Hant', 'zh']);
  assert.deepEqual(languagesFrom('de'), ['de']);
});

test("an account's language is in the field of its collection's setting", () => {
  const settings = fixedSettings({ 'mail.locale_field.people': 'tongue' });
  assert.equal(findLanguage(settings, 'people', { tongue: 'fr', locale: 'de' }), 'fr');
  assert.equal(findLanguage(settings, 'people', { locale: 'de' }), undefined);
  assert.equal(findLanguage(settings, 'others', { tongue: 'fr' }), undefined);
});
