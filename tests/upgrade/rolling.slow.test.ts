import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyDelivery } from '../harness/clients/signature.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { callers, createGround } from '../harness/stacks/stack.ts';
import { startCallers } from './callers.ts';
import { checkOut, missingCommit, previousCommit, released, thisVersion } from './check-out.ts';
import { type Follower, openFollower } from './follower.ts';
import { sendUntilAnswered, type Tally } from './requests.ts';
import { startRollingStack } from './rolling-stack.ts';
import { findLost, startWrites, type Writes } from './writes.ts';

const commit = previousCommit();
const skip = process.env.TEST_UPGRADE === undefined ? 'only `npm run test:upgrade` runs it' : missingCommit(commit);
/** How long a direction's replicas are replaced one by one. On a busy machine a start takes half a minute. */
const oneByOneMs = 70_000;
/** A gateway in version 0.2.0 cuts connections that wait when it stops. Later ones answer. */
const mayCut = commit === released.commit && released.version === '0.2.0';
const patience = { timeoutMs: 180_000, intervalMs: 500 };

test('replicas are replaced one by one, forward, back and forward, and nothing is lost [operation §4.6]', {
  skip: skip ?? false,
}, async (t) => {
  const previous = checkOut(commit);
  await using ground = await createGround();
  await using stack = await startRollingStack(ground, previous);
  await using receiver = await startReceiver();
  const { admin: asAdmin, user } = callers(stack.url, stack.setupToken);
  const admin = await asAdmin();
  await admin.patch('/api/v1/admin/settings', { 'realtime.max_connections_per_address': '1000' });
  const number = { name: 'value', type: 'number' };
  const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null };
  for (const name of ['notes', 'drafts'])
    await admin.post('/api/v1/collections', { name, type: 'base', fields: [number], ...open });
  await admin.post('/api/v1/collections', {
    name: 'papers',
    type: 'base',
    fields: [{ name: 'paper', type: 'file' }],
    ...open,
  });
  const webhook = await createWebhook(admin, receiver.url, ['notes.update']);
  const person = await user();
  const secret = textAt(webhook, 'secret');
  let [unsigned, checked] = [0, 0];
  /** Checks the signatures of new deliveries: they expire. */
  function checkSignatures(): void {
    for (; checked < receiver.deliveries.length; checked += 1) {
      const delivery = receiver.deliveries[checked];
      if (!delivery || !isSigned(delivery.headers, delivery.text, secret)) unsigned += 1;
    }
  }
  await using checking = new AsyncDisposableStack();
  const timer = setInterval(checkSignatures, 1000);
  checking.defer(() => clearInterval(timer));

  const tally: Tally = { statuses: {}, failures: [], cuts: [] };
  await using followers = new AsyncDisposableStack();
  const live: Follower[] = [];
  for (const kind of ['events', 'socket', 'events', 'socket'] as const)
    live.push(followers.use(await openFollower(kind, stack.url, 'notes')));
  const writers = [admin, person];
  const writes = await startWrites(tally, writers, 'notes');
  const others = await startCallers(tally, stack.url);
  const beforeUpgrade = await eventually('some writes', () =>
    writes.created.length > 200 ? writes.created.slice(0, 100) : undefined,
  );

  for (const [name, version] of [
    ['forward', thisVersion],
    ['back', previous],
    ['forward', thisVersion],
  ] as const) {
    const [sinceMs, answered] = [performance.now(), writes.answered];
    const alone = await stack.rollTo(version, oneByOneMs);
    const seconds = (performance.now() - sinceMs) / 1000;
    t.diagnostic(
      `${name} to ${version.name}: ${seconds.toFixed(0)} s, ${alone} replicas one by one, ${Math.round((writes.answered - answered) / seconds)} writes/s`,
    );
  }
  await writes.stop();
  await others.stop();

  const lost = await findLost(admin, 'notes', writes);
  const changed: string[] = [];
  for (const { id, key, body } of beforeUpgrade) {
    const client = writers[Number(key.split('-')[1]) % writers.length] ?? admin;
    const again = await sendUntilAnswered(tally, client, 'POST', '/api/v1/notes', {
      body,
      headers: { 'Idempotency-Key': key },
    });
    if (textAt(again.json, 'data.id') !== id) changed.push(key);
  }
  const gaps = await Promise.all(live.map((follower) => findGaps(follower, writes)));
  const undelivered = await remaining(() => {
    const delivered = new Set(
      receiver.deliveries.map(({ json }) => `${at(json, 'data.record.id')} ${at(json, 'data.record.value')}`),
    );
    return [...writes.counts]
      .flatMap(([id, values]) => values.map((value) => `${id} ${value}`))
      .filter((one) => !delivered.has(one));
  });
  checkSignatures();
  const logged = await eventually(
    'every delivery is logged',
    async () => {
      const { json } = await admin.get('/api/v1/admin/deliveries/summary?buckets=1');
      const [summary] = listAt(json, 'data.webhooks');
      return summary?.pending === 0 && summary;
    },
    patience,
  );

  const isCutByPrevious = (atMs: number): boolean =>
    stack.gatewayStops.some((stop) => stop.version === previous && stop.fromMs <= atMs && atMs <= stop.untilMs);
  const cuts = tally.cuts.filter(({ atMs }) => !mayCut || !isCutByPrevious(atMs)).map(({ request }) => request);
  const acknowledged = writes.created.length + [...writes.counts.values()].flat().length;
  t.diagnostic(`${acknowledged} writes acknowledged, ${lost.length} lost; answers ${JSON.stringify(tally.statuses)}`);
  t.diagnostic(
    `${tally.cuts.length} connections cut, ${cuts.length} of them not by gateways in ${previous.name} that stop`,
  );
  for (const { kind, counts } of live) t.diagnostic(`live ${kind}: ${JSON.stringify(counts)}`);
  t.diagnostic(`${receiver.deliveries.length} deliveries arrived; logged ${JSON.stringify(logged)}`);
  t.diagnostic(`others: ${JSON.stringify(others.done)}`);
  for (const [sentence, times] of countOf(stack.errors)) t.diagnostic(`logged ${times} times: ${sentence}`);
  assert.deepEqual(
    {
      lost,
      changed,
      undelivered,
      unsigned,
      gaps: gaps.flat(),
      differing: writes.differing,
      wrong: others.wrong,
      failures: tally.failures,
      cuts,
      faults: live.flatMap(({ faults }) => faults),
      badExits: stack.badExits,
      dead: logged.dead,
    },
    {
      lost: [],
      changed: [],
      undelivered: [],
      unsigned: 0,
      gaps: [],
      differing: [],
      wrong: [],
      failures: [],
      cuts: [],
      faults: [],
      badExits: [],
      dead: 0,
    },
  );
});

/** Waits until nothing remains, and returns what does after a long time. */
async function remaining(find: () => readonly string[]): Promise<readonly string[]> {
  await eventually('nothing remains', () => find().length === 0, patience).catch(() => {});
  return find().slice(0, 20);
}

/** Returns the acknowledged writes that a live client did not see. */
const findGaps = (follower: Follower, { created, counts }: Writes): Promise<readonly string[]> =>
  remaining(() => [
    ...created.filter(({ id }) => !follower.created.has(id)).map(({ id }) => `${follower.kind} lacks ${id}`),
    ...[...counts].flatMap(([id, values]) =>
      values
        .filter((value) => follower.values.get(id)?.has(value) !== true)
        .map((value) => `${follower.kind} lacks ${id} ${value}`),
    ),
  ]);

function isSigned(...[headers, text, secret]: Parameters<typeof verifyDelivery>): boolean {
  try {
    verifyDelivery(headers, text, secret);
    return true;
  } catch {
    return false;
  }
}

/** Counts the log's messages. */
function countOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const sentence = line.replace(/ \{.*"msg":"([^"]*)".*/, ' $1').slice(0, 200);
    counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  }
  return counts;
}
