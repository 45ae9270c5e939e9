import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type Creator, createPosts } from '../create-posts.ts';
import { untilIdle } from '../process-usage.ts';
import type { AdminApi } from '../product/admin-api.ts';
import { newPost, sizes } from '../seed.ts';
import { type Percentiles, percentiles, quantile } from '../statistics.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Creates at an even pace, with the time from each answer to its delivery, in milliseconds. */
interface PacedResult extends Percentiles {
  readonly perSec: number;
  readonly count: number;
  /** Deliveries per second during the creates; below `perSec` when the product falls behind. */
  readonly deliveredPerSec: number;
  readonly failures: readonly string[];
}

/** Creates as fast as they are answered, until all are delivered. */
interface BurstResult {
  readonly count: number;
  readonly createdInSec: number;
  /** From the first create to the last delivery. */
  readonly drainedInSec: number;
  /** Deliveries per second after the last create's answer; NaN when none were left. */
  readonly drainPerSec: number;
  readonly failures: readonly string[];
}

export interface WebhookResults {
  readonly paced: readonly PacedResult[];
  /** To a healthy receiver while as many webhooks as `hangingCount` wait for receivers that never answer. */
  readonly besideHanging: PacedResult;
  readonly hangingCount: number;
  readonly burst: BurstResult;
}

interface WebhookBench {
  readonly admin: AdminApi;
  readonly productUrl: string;
  readonly productPid: number;
  readonly authorId: string;
}

const paces = [
  { perSec: 50, seconds: 6 },
  { perSec: 200, seconds: 6 },
  { perSec: 500, seconds: 8 },
] as const;
const besideHangingPace = { perSec: 50, seconds: 6 };
const hangingCount = 20;
const burstCount = 5000;
const burstParallel = 50;
const patienceMs = 60_000;

/** Measures deliveries to a receiver on loopback. The creator and the receiver share a process, and thus a clock. */
export async function measureWebhooks({
  admin,
  productUrl,
  productPid,
  authorId,
}: WebhookBench): Promise<WebhookResults> {
  const { posts } = sizes['10k'];
  await admin.call('PATCH', '/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1/32' });
  await using cleanUp = new AsyncDisposableStack();
  const receiver = await startReceiver();
  cleanUp.defer(() => receiver.close());
  await admin.call('POST', '/api/v1/admin/webhooks', { name: 'bench', url: receiver.url, events: [`${posts}.create`] });

  async function withCreator<T>(work: (creator: Creator) => Promise<T>): Promise<T> {
    await untilIdle([productPid]);
    receiver.clear();
    const creator = createPosts(`${productUrl}/api/v1/records/${posts}`, newPost(authorId));
    try {
      return await work(creator);
    } finally {
      creator.close();
    }
  }

  await withCreator((creator) => measurePaced(creator, receiver, { perSec: 50, seconds: 1 }));
  const paced: PacedResult[] = [];
  for (const pace of paces) paced.push(await withCreator((creator) => measurePaced(creator, receiver, pace)));
  const burst = await withCreator((creator) => measureBurst(creator, receiver));

  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  cleanUp.defer(() => {
    hanging.close();
    hanging.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
  const definition = { name: 'hanging', url, events: [`${posts}.create`], timeout_ms: 60_000, retry_max: 0 };
  for (let made = 0; made < hangingCount; made += 1) await admin.call('POST', '/api/v1/admin/webhooks', definition);
  const besideHanging = await withCreator((creator) => measurePaced(creator, receiver, besideHangingPace));
  return { paced, burst, besideHanging, hangingCount };
}

async function measurePaced(
  creator: Creator,
  receiver: Receiver,
  { perSec, seconds }: { perSec: number; seconds: number },
): Promise<PacedResult> {
  const count = perSec * seconds;
  const startedAtMs = performance.now();
  await creator.atPace(count, perSec);
  const deliveredPerSec = (receiver.arrivedAtMs.size * 1000) / (performance.now() - startedAtMs);
  await allArrived(creator, receiver);
  const latenciesMs = [...creator.answeredAtMs].flatMap(([id, answeredMs]) => {
    const arrivedMs = receiver.arrivedAtMs.get(id);
    return arrivedMs === undefined ? [] : [arrivedMs - answeredMs];
  });
  return { perSec, count, deliveredPerSec, ...percentiles([latenciesMs]), failures: findFailures(creator, receiver) };
}

async function measureBurst(creator: Creator, receiver: Receiver): Promise<BurstResult> {
  const startedAtMs = performance.now();
  await creator.asFastAsPossible(burstCount, burstParallel);
  const createdAtMs = performance.now();
  const leftCount = creator.answeredAtMs.size - receiver.arrivedAtMs.size;
  await allArrived(creator, receiver);
  const lastAtMs = quantile(Float64Array.from(receiver.arrivedAtMs.values()).sort(), 1);
  return {
    count: burstCount,
    createdInSec: (createdAtMs - startedAtMs) / 1000,
    drainedInSec: (lastAtMs - startedAtMs) / 1000,
    drainPerSec: leftCount > 0 ? (leftCount * 1000) / (lastAtMs - createdAtMs) : Number.NaN,
    failures: findFailures(creator, receiver),
  };
}

async function allArrived({ answeredAtMs }: Creator, { arrivedAtMs }: Receiver): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (arrivedAtMs.size < answeredAtMs.size && performance.now() < deadlineMs) await setTimeout(10);
}

function findFailures(creator: Creator, receiver: Receiver): string[] {
  const missingCount = [...creator.answeredAtMs.keys()].filter((id) => !receiver.arrivedAtMs.has(id)).length;
  return [
    creator.refusedCount > 0 && `${creator.refusedCount} creates refused`,
    missingCount > 0 && `${missingCount} deliveries missing after ${patienceMs / 1000} s`,
    receiver.repeatedCount > 0 && `${receiver.repeatedCount} deliveries repeated`,
  ].filter((text) => text !== false);
}
