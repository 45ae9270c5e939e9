import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operationsOf } from '../fuzz/operations.ts';
import type { Known } from '../fuzz/requests.ts';
import { destructive, excluded, makeContents } from '../fuzz/subject.ts';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type Stack, startStack, type Topology } from '../harness/stacks/stack.ts';
import { openProbe, type Pause, type Probe } from './probe.ts';
import {
  type HostileRequest,
  hostileImports,
  hostileRequests,
  hostileSubscriptions,
  withHostileHeaders,
} from './requests.ts';

/** How long an event loop may pause, in milliseconds. */
const maxPauseMs = 250;

/** A request is slow when it pauses the process each time; a single pause may be the machine's. */
const attempts = 4;

/** How many requests are sent together. When a group causes a pause, each of its requests is sent again alone. */
const groupSize = 8;

/** Operations that get hostile headers: each reads headers that the others do not. */
const readersOfHeaders: readonly string[] = ['get_everything', 'list_everything', 'create_everything'];

/** Selects operations by a part of their id. */
const chosen = process.env.HOSTILE_OPERATIONS;

/** Both topologies run the same routes, so separate processes get only operations whose texts take another path there. */
const calledInProcesses: readonly string[] = ['create_everything', 'list_everything', 'postAuthByCollectionLogin'];

const isInCi = process.env.TEST_TOPOLOGIES === 'fewest';

/**
 * Which part of the requests to an operation is sent: a third, in CI a thirteenth. Neither divides the number of a place's
 * texts, 16 or 20, so neighbouring places get different texts and all places get all of them together. Chosen operations
 * get every text in every place.
 */
const stride = chosen !== undefined ? 1 : isInCi ? 13 : 3;

/** Which part of the requests with hostile headers is sent. */
const headerStride = chosen === undefined && isInCi ? 5 : 1;

/** How many characters an import has. A reader that does not yield takes a second for either. */
const rowsLength = isInCi ? 2_000_000 : 4_000_000;

const isCalled = (topology: Topology, id: string): boolean =>
  chosen === undefined ? topology === 'one' || calledInProcesses.includes(id) : id.includes(chosen);

for (const topology of ['one', 'processes'] satisfies Topology[]) {
  test(`no client text blocks an event loop, ${topology} [cost §4.1]`, {
    timeout: 1_500_000,
  }, async (t) => {
    await using stack = await startStack({ topology });
    const admin = await stack.admin();
    const user = await stack.user();
    await admin.patch('/api/v1/admin/settings', { 'auth.otp.enabled': '1', 'auth.anonymous.enabled': '1' });
    const known = await makeContents(stack);
    await using probe = await openProbe(stack);
    const statuses = new Map<number, number>();
    const slow: string[] = [];
    const failed: string[] = [];
    const send = async ({ method, path, name, ...sending }: HostileRequest): Promise<void> => {
      const client: Client = path.startsWith('/api/v1/auth/') ? user : admin;
      const { status } = await client.send(method, path, sending);
      if (status === 500) failed.push(name);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    for (const group of groupsOf(await requestsTo(stack, known, topology))) {
      const together = await probe.watch(() => Promise.all(group.map(send)));
      if (!isLong(together)) continue;
      for (const request of group) {
        const pause = await shortestPause(probe, () => send(request));
        if (pause) slow.push(`${request.name}: ${Math.round(pause.waitedMs)} ms, ${pause.workedMs} ms of a core`);
      }
    }
    t.diagnostic(`answers by status: ${JSON.stringify(Object.fromEntries(statuses))}`);
    assert.deepEqual({ slow, failed }, { slow: [], failed: [] });
  });
}

/** Yields every request in the document that an admin sees one by one, since together they have some gigabytes. */
async function requestsTo(stack: Stack, known: Known, topology: Topology): Promise<Iterable<HostileRequest>> {
  const admin = await stack.admin();
  const { document, operations } = await eventually('the document has the collections', async () => {
    const { json } = await admin.get('/api/v1/openapi.json');
    const operations = operationsOf(json);
    return operations.some(({ id }) => id === 'create_everything') && { document: json, operations };
  });
  const called = operations.filter((operation) => isCalled(topology, operation.id) && !excluded.has(operation.id));
  return (function* () {
    let position = 0;
    const isTaken = (part: number) => position++ % part === 0;
    for (const operation of called) {
      const existing = destructive.has(operation.id) ? {} : known;
      for (const make of hostileRequests(document, operation, existing)) if (isTaken(stride)) yield make();
      if (readersOfHeaders.includes(operation.id))
        for (const make of withHostileHeaders(operation, existing)) if (isTaken(headerStride)) yield make();
      if (operation.id === 'postRealtime') yield* hostileSubscriptions();
      if (operation.id === 'postRecordsByCollectionImport') yield* hostileImports(rowsLength);
    }
  })();
}

function* groupsOf(requests: Iterable<HostileRequest>): Generator<HostileRequest[]> {
  let group: HostileRequest[] = [];
  for (const request of requests) {
    group.push(request);
    if (group.length < groupSize) continue;
    yield group;
    group = [];
  }
  yield group;
}

const isLong = ({ waitedMs, workedMs }: Pause): boolean => waitedMs > maxPauseMs && workedMs > maxPauseMs;

/** Returns a request's shortest pause over all attempts; undefined when one was short. */
async function shortestPause(probe: Probe, send: () => Promise<void>): Promise<Pause | undefined> {
  const pauses: Pause[] = [];
  while (pauses.length < attempts) {
    const pause = await probe.watch(send);
    if (!isLong(pause)) return undefined;
    pauses.push(pause);
  }
  return pauses.sort((a, b) => a.waitedMs - b.waitedMs)[0];
}
