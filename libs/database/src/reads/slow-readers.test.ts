import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSlowReaders } from './slow-readers.ts';

const statement = (text: string) => ({ text, values: [] });

describe('slow read memory', () => {
  test('remembers a client and its statements for ten seconds', () => {
    let nowMs = 0;
    const readers = createSlowReaders(() => nowMs);
    readers.note('a', statement('slow'));
    nowMs = 9999;
    assert.deepEqual([readers.isSlow('a'), readers.isSlow('b')], [true, false]);
    assert.equal(readers.isKnownSlow('a', statement('slow')), true);
    assert.equal(readers.isKnownSlow('a', statement('other')), false);
    assert.equal(readers.isKnownSlow('b', statement('slow')), false);
    nowMs = 10_000;
    assert.deepEqual([readers.isSlow('a'), readers.isKnownSlow('a', statement('slow'))], [false, false]);
  });

  test('forgets each statement separately', () => {
    let nowMs = 0;
    const readers = createSlowReaders(() => nowMs);
    readers.note('a', statement('first'));
    nowMs = 6000;
    readers.note('a', statement('second'));
    nowMs = 12_000;
    assert.deepEqual(
      ['first', 'second'].map((text) => readers.isKnownSlow('a', statement(text))),
      [false, true],
    );
  });

  test("keeps a client's last 20 statements and the last 1000 clients", () => {
    const readers = createSlowReaders(() => 0);
    for (let n = 0; n <= 20; n += 1) readers.note('a', statement(`s${n}`));
    assert.deepEqual(
      ['s0', 's1', 's20'].map((text) => readers.isKnownSlow('a', statement(text))),
      [false, true, true],
    );
    for (let n = 0; n < 1000; n += 1) readers.note(`client ${n}`, statement('s'));
    assert.deepEqual([readers.isSlow('a'), readers.isSlow('client 0')], [false, true]);
  });
});
