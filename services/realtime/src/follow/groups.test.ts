import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LivePlan } from '@recordbus/live';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { Connection } from '../connection/connection.ts';
import { createGroups } from './groups.ts';
import { Subscription } from './subscription.ts';

const guest = { principal: { type: 'guest', rejectedToken: false } } as Partial<RequestContext> as RequestContext;

const groups = createGroups({
  live: { judge: () => assert.fail(), candidates: () => assert.fail() },
  changes: { end: { epoch: 'e', seq: 7 }, read: () => assert.fail() },
  log: createLogger('realtime', 'silent'),
  onSent() {},
  onCrossed() {},
  onStale: () => assert.fail(),
  onMissed() {},
  onTooExpensive() {},
});

function join(key: string): Subscription {
  const connection = new Connection({
    context: guest,
    caller: { headers: {}, query: {} },
    transport: { send() {}, sendCursor() {}, unsentBytes: 0, end() {} },
    cursorAt: String,
    onEnd() {},
  });
  const subscription = new Subscription('1', connection, { collection: 'notes' }, 7);
  subscription.setPlan({ key, request: { collection: 'notes' }, crossed: [] } as Partial<LivePlan> as LivePlan, []);
  groups.join(subscription, 7);
  return subscription;
}

test('a group ends with its last member, although nothing changes in its collection [realtime §6.2]', () => {
  const [ann, bob] = [join('a'), join('a')];
  const others = Array.from({ length: 100 }, (_, n) => join(`other ${n}`));
  assert.equal([...groups].length, 101);
  for (const one of [ann, ...others]) one.leave();
  assert.deepEqual(
    [...groups].map(({ plan }) => plan.key),
    ['a'],
  );
  bob.leave();
  assert.deepEqual([...groups], []);
  assert.equal(join('a').isJoined, true);
});
