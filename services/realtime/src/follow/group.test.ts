import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventVerdict, LivePlan, LiveReads } from '@recordbus/live';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { Connection } from '../connection/connection.ts';
import { type Change, isOf } from '../stream/change.ts';
import { Group } from './group.ts';
import { Subscription } from './subscription.ts';

const plan = {
  key: 'p',
  request: { collection: 'notes' },
  collectionId: 'n',
  crossed: [],
} as Partial<LivePlan> as LivePlan;
const guest = { principal: { type: 'guest', rejectedToken: false } } as Partial<RequestContext> as RequestContext;

/** Three writes to one record, with the versions 1 to 3 at the same places in the stream. */
const changes = [1, 2, 3].map(
  (seq): Change => ({
    seq,
    collection: 'notes',
    collectionId: 'n',
    recordId: 'one',
    verb: seq === 1 ? 'create' : 'update',
    atMs: seq,
    bytes: 1,
    read: () => ({
      id: String(seq),
      version: String(seq),
      schema: 's',
      data: '{}',
      record: undefined,
      previous: undefined,
      changed: [],
    }),
  }),
);

const seen: EventVerdict = { before: [], now: 'all', records: [{ callers: 'all', json: '{}' }] };

/** Starts a group that reads one change at a time, and resolves with it when it is idle. */
function startGroup(judge: LiveReads['judge']) {
  const idle = Promise.withResolvers<void>();
  const missed: string[] = [];
  const group = new Group(plan, 0, {
    live: { judge, candidates: async () => undefined },
    changes: {
      end: { epoch: 'e', seq: changes.length },
      read: (after) => ({ changes: changes.filter(({ seq }) => seq === after + 1), upTo: after + 1 }),
    },
    log: createLogger('realtime', 'silent'),
    onSent() {},
    onCrossed() {},
    onStale: () => assert.fail('no plan is stale'),
    onMissed: (_group, reason) => void missed.push(reason),
    onSlow: () => assert.fail('no member is slow'),
    onTooExpensive: () => assert.fail('no plan is too expensive'),
    onIdle: () => idle.resolve(),
  });
  return { group, missed, idle: idle.promise };
}

/** Adds a member that has seen everything up to a place. Returns the versions that it is sent. */
function join(group: Group, from: number): string[] {
  const told: string[] = [];
  const connection = new Connection({
    context: guest,
    caller: { headers: {}, query: {} },
    transport: {
      send: (frame) => void told.push(/"version":"(\d+)"/.exec(String(frame.sse(undefined)))?.[1] ?? ''),
      sendCursor() {},
      unsentBytes: 0,
      end() {},
    },
    cursorAt: String,
    onEnd() {},
  });
  const subscription = new Subscription('1', connection, { collection: 'notes' }, from);
  subscription.setPlan(plan, []);
  group.add(subscription);
  return told;
}

test('changes arrive once each, up to one that the records service does not know [realtime §4.3]', async () => {
  const { group, missed, idle } = startGroup(async ({ events }) => ({
    isStale: false,
    events: events.map(({ version }) => (version === '3' ? { ...seen, isLost: true } : seen)),
  }));
  const told = join(group, 0);
  group.wake();
  await idle;
  assert.deepEqual(told, ['1', '2']);
  assert.deepEqual(missed, ['schema']);
});

test('a change under another name or in another collection belongs to its id [realtime §4.3]', () => {
  const of = { name: 'notes', id: 'n' };
  assert.ok(isOf({ collection: 'former', collectionId: 'n' }, of));
  assert.ok(!isOf({ collection: 'notes', collectionId: 'dropped' }, of));
  assert.ok(isOf({ collection: 'notes', collectionId: undefined }, of));
});
