import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import type { Client } from '../harness/clients/client.ts';
import { eventsAreWhole, everyWriteIsThere, startSteadyWrites } from '../harness/clients/steady-writes.ts';
import { committedIds, everyRecordArrives } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { receivedRecordIds } from '../harness/servers/receiver.ts';
import { chosenFaults, type Fault } from './network/faults.ts';
import { collection, startProxiedProduct } from './network/product.ts';

const patience = { timeoutMs: 120_000, intervalMs: 50 };

/** Longer than every documented wait, on a busy machine too: a write that takes it hangs. */
const longestAnswerMs = 65_000;

test('the network between all parts fails, and nothing is lost or out of order', async (t) => {
  await using product = await startProxiedProduct();
  const { guest, admin, receiver, list } = product;
  await using reader = await openBusReader(product.natsUrl);
  await using writes = startSteadyWrites({ clients: [guest], collection });

  /** Writes until one is answered, and waits until its event is delivered and its change is shown. */
  async function works(): Promise<void> {
    const id = await eventually(
      'a write is answered',
      async () => {
        const answer = await guest.send('POST', `/api/v1/${collection}`, { body: { value: 0 } }).catch(() => undefined);
        return answer?.status === 201 ? textAt(answer.json, 'data.id') : undefined;
      },
      patience,
    );
    await eventually('its event is delivered', () => receivedRecordIds(receiver).includes(id), patience);
    await eventually('its change is shown', () => list.records.has(id), patience);
  }

  async function endures(fault: Fault): Promise<void> {
    const from = writes.results.length;
    const isOver = new AbortController();
    const readiness = askReadiness(product.direct, isOver.signal);
    await fault.begin();
    await wait(fault.lastsMs);
    await fault.end();
    const endedAtMs = performance.now();
    await works();
    const workedAfterMs = performance.now() - endedAtMs;
    isOver.abort();
    const said = await readiness;
    const during = writes.results.slice(from);
    const refused = during.filter(({ status }) => status !== 200 && status !== 201);
    const longestMs = Math.max(...during.map(({ tookMs }) => tookMs));
    t.diagnostic(
      [
        `${fault.name}: ${during.length} writes, ${refused.length} refused`,
        `with ${[...new Set(refused.map(({ status }) => status ?? 'no answer'))].join(' ') || 'nothing'}`,
        `the longest ${Math.round(longestMs)} ms, everything works ${Math.round(workedAfterMs)} ms after it`,
        `readiness ${[...said].join(' ')}`,
      ].join(', '),
    );
    if (!fault.isBeforeTheProduct) assert.ok(longestMs < longestAnswerMs, `a write took ${longestMs} ms`);
    if (fault.isToldByReadiness) assert.ok(said.has(503), 'the gateway does not say that it is not ready');
  }

  await works();
  for (const fault of chosenFaults(product)) await t.test(fault.name, () => endures(fault));

  const written = await writes.stop();
  await everyWriteIsThere(admin, collection, written);
  await everyRecordArrives(admin, receiver, collection);
  await eventually('every event is on the stream', () => eventsAreWhole(reader.events, written), patience);
  const committed = await committedIds(admin, collection);
  const shown = () => [...committed].every((id) => list.records.has(id)) && list.records.size === committed.size;
  await eventually('the live list shows all records', shown, patience);
  assert.deepEqual(list.faults, []);
});

/** Asks whether the gateway is ready, until the fault is over and it is ready again. Returns the statuses. */
async function askReadiness(gateway: Client, isOver: AbortSignal): Promise<ReadonlySet<number>> {
  const said = new Set<number>();
  for (let last = 0; !isOver.aborted || last !== 200; ) {
    last = (await gateway.get('/readyz')).status;
    said.add(last);
    await wait(200);
  }
  return said;
}
