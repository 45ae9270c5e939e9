import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldAddress } from './fold-address.ts';

test('spellings under which a database may find the same user count together [auth §4.3]', () => {
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

test('a run of combining marks is cut before normalization', () => {
  assert.equal(foldAddress(`mia${'\u0315\u0300'.repeat(250_000)}`), 'mia');
});

test('different addresses count separately', () => {
  assert.notEqual(foldAddress('mia+1@example.com'), foldAddress('mia@example.com'));
  assert.notEqual(foldAddress('m.ia@example.com'), foldAddress('mia@example.com'));
});
