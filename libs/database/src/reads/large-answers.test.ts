import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLargeAnswers, largeBytesOf } from './large-answers.ts';

const meter = { watch() {}, waited() {}, refused() {}, timedOut() {} };
const usual = { meter, maxBytes: 10, maxAnswers: 3, waitMs: 60_000 };

describe('the room for large answers', () => {
  test('is limited in bytes and answers, and is released only once', () => {
    const room = createLargeAnswers(usual);
    const first = room.tryTake(6, 'a');
    assert.ok(first);
    assert.equal(room.tryTake(5, 'a'), undefined);
    const rest = [room.tryTake(1, 'a'), room.tryTake(1, 'a')];
    assert.ok(rest.every(Boolean));
    assert.equal(room.tryTake(1, 'a'), undefined);
    first();
    first();
    assert.ok(room.tryTake(8, 'a'));
    assert.equal(room.tryTake(1, 'a'), undefined);
  });

  test('has room for one answer, however large', () => {
    assert.ok(createLargeAnswers(usual).tryTake(11, 'a'));
  });

  test('is granted in request order', async () => {
    const room = createLargeAnswers(usual);
    const first = room.tryTake(10, 'a');
    const order: string[] = [];
    const waiting = [9, 1].map((bytes) => room.take(bytes, 'a').then(() => order.push(`${bytes}`)));
    first?.();
    await Promise.all(waiting);
    assert.deepEqual(order, ['9', '1']);
  });

  test('is refused after the longest wait, and later waiters continue', async () => {
    const room = createLargeAnswers({ ...usual, waitMs: 1 });
    room.tryTake(5, 'a');
    // It holds at least half of the room itself.
    await assert.rejects(room.take(6, 'a'), { status: 429, code: 'rate_limited' });
    await assert.rejects(room.take(6, 'b'), { status: 503 });
    assert.ok(room.tryTake(5, 'a'));
  });
});

test("an answer's size is the bytes in its texts", () => {
  const limit = 256 * 1024;
  assert.equal(largeBytesOf([{ body: 'x'.repeat(limit), total: 1 }]), 0);
  assert.equal(largeBytesOf([{ body: 'x'.repeat(limit) }, { body: 'ü' }]), limit + 2);
  assert.equal(largeBytesOf([{ body: '€'.repeat(100_000) }]), 300_000);
  assert.equal(largeBytesOf(undefined), 0);
});
