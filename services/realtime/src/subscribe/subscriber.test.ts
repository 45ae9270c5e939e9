import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppError, forbidden, unavailable } from '@recordbus/errors';
import type { LivePlan, LiveReads } from '@recordbus/live';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { Connection } from '../connection/connection.ts';
import { Subscription } from '../follow/subscription.ts';
import { createSubscriber } from './subscriber.ts';
import { readSubscription } from './subscription-request.ts';

const end = { epoch: 'e', seq: 7 };
const plan = { key: 'p', request: { collection: 'notes' }, crossed: [] } as Partial<LivePlan> as LivePlan;
const guest = { principal: { type: 'guest', rejectedToken: false } } as Partial<RequestContext> as RequestContext;

/** Follows `notes` with a snapshot, and returns the types of messages that the client gets. */
async function follow(live: Partial<LiveReads>, waits = true) {
  const types: string[] = [];
  const connection = new Connection({
    context: guest,
    caller: { headers: {}, query: {} },
    transport: { send: ({ type }) => void types.push(type), sendCursor() {}, unsentBytes: 0, end() {} },
    cursorAt: String,
    onEnd() {},
  });
  const subscriber = createSubscriber({
    live: {
      open: async (requests) => requests.map(() => ({ plan, values: [] })),
      snapshot: async () => ({ records: '[]', total: 0 }),
      ...live,
    },
    changes: { end, findMissed: async () => undefined },
    groups: { join: (subscription) => void Object.assign(subscription, { group: { remove() {}, through: 7 } }) },
    channels: { admit: () => assert.fail(), follow: () => assert.fail(), recheck() {} },
    log: createLogger('realtime', 'silent'),
    onResync() {},
  });
  const wanted = readSubscription({ collection: 'notes', snapshot: true }, 1);
  const begun = subscriber.begin(connection, await subscriber.admit([wanted], connection.caller), true);
  if (waits) await begun;
  return { types, connection, subscriber, begun };
}

const failing = (error: AppError) => ({ snapshot: () => Promise.reject(error) });

test("after a snapshot's temporary failure, the client is asked to reconnect [realtime §2.3]", async () => {
  const { types, connection } = await follow(failing(unavailable('the records service does not answer')));
  assert.deepEqual(types, ['ready', 'reconnect']);
  assert.equal(connection.isEnded, true);
});

test('a snapshot that is refused ends only its subscription [realtime §2.3]', async () => {
  const { types, connection } = await follow(failing(forbidden('no')));
  assert.deepEqual(types, ['ready', 'error']);
  assert.equal(connection.isEnded, false);
});

test('a caller who changes while the records service does not answer is asked to reconnect [realtime §4.2]', async () => {
  let calls = 0;
  const { types, connection, subscriber } = await follow({
    async open(requests) {
      calls += 1;
      if (calls > 1) throw unavailable('the records service does not answer');
      return requests.map(() => ({ plan, values: [] }));
    },
  });
  assert.deepEqual(types, ['ready', 'snapshot']);
  await assert.rejects(
    subscriber.rejoinConnection(connection, () => {}),
    /does not answer/,
  );
  assert.deepEqual(types, ['ready', 'snapshot', 'reconnect']);
});

test('a snapshot that is read while the stream begins another life is read again [realtime §4.3]', async () => {
  const reads: PromiseWithResolvers<{ records: string; total: number }>[] = [];
  const { types, subscriber, connection, begun } = await follow(
    {
      snapshot: () => {
        const read = Promise.withResolvers<{ records: string; total: number }>();
        reads.push(read);
        return read.promise;
      },
    },
    false,
  );
  const [subscription] = connection.followed.values();
  assert.ok(subscription instanceof Subscription);
  subscriber.restart(subscription, 'stream_recreated');
  for (const read of reads) read.resolve({ records: '[]', total: 0 });
  await begun;
  await new Promise(setImmediate);
  assert.deepEqual(types, ['ready', 'resync', 'snapshot']);
});
