import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseCoding } from './content-coding.ts';

const cases: readonly (readonly [header: string | undefined, chosen: string | undefined])[] = [
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['*', 'br'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['deflate;q=1 , gzip ; q=0.5', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity, gzip', 'gzip'],
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['deflate', undefined],
  ['gzipped', undefined],
  ['gzip;q=0', undefined],
  ['gzip;q=0.000, *;q=0', undefined],
  ['gzip;q=x', undefined],
  ['gzip;q=2', undefined],
  [`${'a,'.repeat(100_000)}gzip`, undefined],
];
for (const [header, chosen] of cases)
  test(`${JSON.stringify(header?.slice(0, 40))} gets ${chosen}`, () =>
    assert.equal(chooseCoding(header, ['br', 'gzip']), chosen));
