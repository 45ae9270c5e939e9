import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { subjectOf } from './event-subject.ts';

describe("an event's subject", () => {
  const cases: [event: string, subject: string][] = [
    ['posts.create', 'events.posts.create'],
    ['order.shipped', 'events.order.shipped'],
    ['a b.c*d.>', 'events.a=20b.c=2Ad.=3E'],
    ['a..b', 'events.a.=.b'],
    ['größe.ändern', 'events.gr=C3=B6=C3=9Fe.=C3=A4ndern'],
    ['', 'events.='],
  ];
  for (const [event, subject] of cases)
    it(`of ${JSON.stringify(event)} is ${subject}`, () => assert.equal(subjectOf(event), subject));

  it('stays short and distinct for a long name', () => {
    const one = subjectOf(`${'x'.repeat(500)}1`);
    assert.ok(one.length < 256);
    assert.notEqual(one, subjectOf(`${'x'.repeat(500)}2`));
  });
});
