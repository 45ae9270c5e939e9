import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldAddress } from './fold-address.ts';

test('spellings under which a database may find one user are counted together', () => {
  for (const spelling of [
    ' MIA@Example.com\n',
    'Mİa@example.com',
    'mıa@example.com',
    'ｍｉａ@example.com',
    'mia\0@example.com',
  ])
    assert.equal(foldAddress(spelling), 'mia@example.com', JSON.stringify(spelling));
  assert.equal(foldAddress('ΝΙΚΟΣ@example.com'), foldAddress('νικος@example.com'));
  assert.equal(foldAddress('Kim@example.com'), 'kim@example.com');
});

test('other addresses are counted apart', () => {
  assert.notEqual(foldAddress('mia+1@example.com'), foldAddress('mia@example.com'));
  assert.notEqual(foldAddress('m.ia@example.com'), foldAddress('mia@example.com'));
});
