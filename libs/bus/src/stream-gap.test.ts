import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findGap } from './stream-gap.ts';

const stream = { firstSequence: 100, oldestAt: new Date('2026-05-02T00:00:00Z') };
const at = (consumer_seq: number, stream_seq: number) => ({ delivered: { consumer_seq, stream_seq } });
const whole = { subject: 'events.>', from: 'beginning' } as const;

test('a gap consists of messages that the stream dropped before a consumer read them', () => {
  assert.equal(findGap(stream, at(99, 99), whole), undefined);
  assert.equal(findGap(stream, at(120, 120), whole), undefined);
  assert.deepEqual(findGap(stream, at(40, 40), whole), { from: 41, to: 99, isPartial: false });
  assert.deepEqual(findGap(stream, at(4, 40), { ...whole, subject: 'events.posts.create' }), {
    from: 41,
    to: 99,
    isPartial: true,
  });
});

test('a consumer begins with a gap if messages since its start time were dropped before it was created', () => {
  const since = (from: string) => findGap(stream, at(0, 99), { ...whole, from: new Date(from) });
  assert.deepEqual(since('2026-05-01T00:00:00Z'), { from: 1, to: 99, isPartial: true });
  assert.equal(since('2026-05-03T00:00:00Z'), undefined);
  assert.equal(findGap({ ...stream, firstSequence: 1 }, at(0, 0), { ...whole, from: new Date(0) }), undefined);
});
