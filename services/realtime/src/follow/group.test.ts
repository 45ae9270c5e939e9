import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LivePlan, LiveReads } from '@recordbus/live';
import type { RequestContext } from '@recordbus/shared/context';
import { createLogger } from '@recordbus/shared/logging';
import { Connection } from '../connection/connection.ts';
import type { Change } from '../stream/change.ts';
import { Group } from './group.ts';
import { Subscription } from './subscription.ts';

const plan = { key: 'p', request: { collection: 'notes' }, crossed: [] } as Partial<LivePlan> as LivePlan;
const guest = { principal: { type: 'guest', rejectedToken: false } } as Partial<RequestContext> as RequestContext;

/** Three writes of one record, with the versions 1 to 3 at the same places of the stream. */
const changes = [1, 2, 3].map(
  (seq): Change => ({
    seq,
    collection: 'notes',
    recordId: 'one',
    verb: seq === 1 ? 'create' : 'update',
    bytes: 1,
    read: () => ({
      id: String(seq),
      version: String(seq),
      data: '{}',
      record: undefined,
      previous: undefined,
      changed: [],
    }),
  }),
);

/** Answers like the records service when it reads the stored record, which already has its last version. */
const judgeByStored: LiveReads['judge'] = async ({ events }) => ({
  isStale: false,
  events: events.map(() => ({ before: [], now: 'all', records: [{ callers: 'all', json: '{}' }], version: '3' })),
});

/** Starts a group that reads one change at a time, and resolves with it when it is idle. */
function startGroup(judge: LiveReads['judge']): { readonly group: Group; readonly idle: Promise<unknown> } {
  const idle = Promise.withResolvers<void>();
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
    onMissed: () => assert.fail('no change is missed'),
    onSlow: () => assert.fail('no member is slow'),
    onTooExpensive: () => assert.fail('no plan is too expensive'),
    onIdle: () => idle.resolve(),
  });
  return { group, idle: idle.promise };
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

test('a state that was sent with an earlier change comes once [realtime §3.2]', async () => {
  const { group, idle } = startGroup(judgeByStored);
  const told = join(group, 0);
  group.wake();
  await idle;
  assert.deepEqual(told, ['3']);
});

test('a member that joins while another is sent a later state gets it too [realtime §4.3]', async () => {
  let late: string[] | undefined;
  const { group, idle } = startGroup((batch) => {
    late ??= join(group, 1);
    return judgeByStored(batch);
  });
  join(group, 0);
  group.wake();
  await idle;
  assert.deepEqual(late, ['3']);
});
