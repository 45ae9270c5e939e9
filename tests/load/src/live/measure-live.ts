import { createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { createPosts } from '../create-posts.ts';
import type { Options } from '../options.ts';
import { cpuTimeMs, residentMb, untilIdle } from '../process-usage.ts';
import { tableOf } from '../product/product-layout.ts';
import type { Product } from '../product/start-product.ts';
import { type Percentiles, percentiles } from '../statistics.ts';
import { startClients } from './client-process.ts';
import type { ClientReport } from './live-clients.ts';
import { measureRestart, type RestartResults } from './measure-restart.ts';

/** Live connections, measured with ten thousand clients. */
export interface LiveResults {
  readonly connections: number;
  /** Memory that an idle connection takes in the process, in kB. */
  readonly kbEach: number | undefined;
  readonly openedInSec: number;
  /** From the answer to one create that all clients see until the last client's message, in milliseconds. */
  readonly fanOutMs: readonly number[];
  /** Creates that only one client sees each, at a steady pace. */
  readonly paced: readonly LivePace[];
  /** Creates per second with and without the connections. */
  readonly createsPerSec: { readonly beside: number; readonly alone: number };
  /** All clients again, with their cursors. */
  readonly resumedInSec: number;
  /** All clients again, after their product was killed and started again. */
  readonly restart: RestartResults;
  readonly failures: readonly string[];
}

interface LivePace extends Percentiles {
  readonly rule: string;
  readonly perSec: number;
  readonly count: number;
  /** The product's processor time during the pace, in cores. */
  readonly cores: number | undefined;
}

interface LiveBench {
  readonly product: Product;
  readonly database: pg.Client;
  readonly options: Options;
}

const connections = 10_000;
const users = 'livefolk';
const fanOuts = 5;
const patienceMs = 30_000;
const open = { view_rule: null, create_rule: null };

/** Measures one process's live connections. */
export async function measureLive({ product, database, options }: LiveBench): Promise<LiveResults> {
  await using cleanUp = new AsyncDisposableStack();
  const { admin, pid } = product;
  const failures: string[] = [];
  await prepare(product, database);
  const clients = cleanUp.use(await startClients());
  const openAll = (subscription: object, tokens: readonly (string | undefined)[], after?: string) =>
    clients.open({ url: product.url, subscription, tokens, after });
  const closeAll = async () => {
    await clients.close();
    await untilIdle([pid]);
  };
  const guests = Array<undefined>(connections).fill(undefined);
  const tokens = Array.from({ length: connections }, (_, n) => tokenOf(product.secret, `live${n + 1}`));

  const creatorOf = (collection: string, body: object) =>
    createPosts(`${product.url}/api/v1/records/${collection}`, JSON.stringify(body));
  async function creates(): Promise<number> {
    const creator = creatorOf('liveplain', { text: 'x' });
    const startedAtMs = performance.now();
    await creator.asFastAsPossible(3000, 20);
    creator.close();
    return 3_000_000 / (performance.now() - startedAtMs);
  }

  await creates();
  const alone = await creates();
  await untilIdle([pid]);
  const idleMb = residentMb(pid);
  const opened = await openAll({ collection: 'livepublic' }, guests);
  if (opened.failures > 0) failures.push(`${opened.failures} connections refused`);
  await untilIdle([pid]);
  const openMb = residentMb(pid);
  const beside = await creates();

  async function arrived(count: number, each: number): Promise<ClientReport['arrivals']> {
    const all = new Map<string, { first: number; last: number; count: number }>();
    for (const untilMs = performance.now() + patienceMs; performance.now() < untilMs; await setTimeout(100)) {
      const { arrivals, broken } = await clients.report();
      if (broken > 0) failures.push(`${broken} connections broken`);
      for (const [id, arrival] of arrivals) {
        const known = all.get(id);
        all.set(id, known ? { first: known.first, last: arrival.last, count: known.count + arrival.count } : arrival);
      }
      if (all.size >= count && [...all.values()].every((one) => one.count >= each)) return all;
    }
    failures.push(`${count} events expected, ${all.size} arrived`);
    return all;
  }

  const fanOutMs: number[] = [];
  for (let n = 0; n < fanOuts; n += 1) {
    const creator = creatorOf('livepublic', { text: 'to everyone' });
    await creator.asFastAsPossible(1, 1);
    creator.close();
    const [answeredAtMs = Number.NaN] = [...creator.answeredAtMs.values()];
    const [arrival] = [...(await arrived(1, connections)).values()];
    fanOutMs.push((arrival?.last ?? Number.NaN) - performance.timeOrigin - answeredAtMs);
  }
  const { cursor } = await clients.report();
  await closeAll();
  const resumed = await openAll({ collection: 'livepublic' }, guests, cursor);
  if (resumed.failures > 0) failures.push(`${resumed.failures} connections refused after a break`);
  await closeAll();

  async function pace(collection: string, rule: string, perSec: number, seconds: number): Promise<LivePace> {
    const { failures: refused } = await openAll({ collection }, tokens);
    if (refused > 0) failures.push(`${refused} user connections refused`);
    await untilIdle([pid]);
    const count = perSec * seconds;
    const beganMs = cpuTimeMs(pid);
    const startedAtMs = performance.now();
    const answered = new Map<string, number>();
    const sent: Promise<void>[] = [];
    while (sent.length < count) {
      const due = Math.min(count, Math.floor(((performance.now() - startedAtMs) * perSec) / 1000) + 1);
      while (sent.length < due) {
        const creator = creatorOf(collection, {
          owner: `live${1 + ((sent.length * 37) % connections)}`,
          org: `o${sent.length % 1000}`,
        });
        sent.push(
          creator.asFastAsPossible(1, 1).then(() => {
            for (const [id, at] of creator.answeredAtMs) answered.set(id, at);
            creator.close();
          }),
        );
      }
      await setTimeout(5);
    }
    await Promise.all(sent);
    const endedMs = cpuTimeMs(pid);
    const cores =
      beganMs === undefined || endedMs === undefined
        ? undefined
        : (endedMs - beganMs) / (performance.now() - startedAtMs);
    const arrivals = await arrived(count, 1);
    const latencies = [...answered].flatMap(([id, at]) => {
      const arrival = arrivals.get(id);
      return arrival ? [arrival.last - performance.timeOrigin - at] : [];
    });
    await closeAll();
    return { rule, perSec, count, cores, ...percentiles([latencies]) };
  }

  const paced = [
    await pace('liveowned', 'owner = @request.auth.id', 100, 10),
    await pace('livemembers', 'exists(livememberships, …)', 50, 10),
  ];
  await admin.call('PATCH', '/api/v1/admin/settings', { 'realtime.max_connections_per_address': '' });
  const restart = await measureRestart(options, connections);
  const lost = connections - restart.informed;
  if (restart.failures + lost > 0) failures.push(`after a restart ${restart.failures} refused, ${lost} not informed`);
  return {
    connections,
    kbEach: idleMb === undefined || openMb === undefined ? undefined : ((openMb - idleMb) * 1024) / connections,
    openedInSec: opened.seconds,
    fanOutMs,
    paced,
    createsPerSec: { beside, alone },
    resumedInSec: resumed.seconds,
    restart,
    failures: [...new Set(failures)],
  };
}

/** Creates the collections, ten thousand accounts, and three memberships for each. */
async function prepare({ admin }: Product, database: pg.Client): Promise<void> {
  await admin.call('PATCH', '/api/v1/admin/settings', { 'realtime.max_connections_per_address': '1000000' });
  const text = { name: 'text', type: 'text' };
  const create = (name: string, fields: object[], more: object = open) =>
    admin.call('POST', '/api/v1/collections', { name, type: 'base', fields, ...more });
  await admin.call('POST', '/api/v1/collections', { name: users, type: 'auth', fields: [] });
  const owner = { name: 'owner', type: 'relation', collection: users };
  const org = { name: 'org', type: 'text' };
  await create('livepublic', [text], { ...open, list_rule: null });
  await create('liveplain', [text], { ...open, list_rule: null });
  await create('liveowned', [owner, org], { ...open, list_rule: 'owner = @request.auth.id' });
  await create('livememberships', [{ name: 'user', type: 'relation', collection: users }, org]);
  await create('livemembers', [owner, org], {
    ...open,
    list_rule: 'exists(livememberships, org = record.org && user = @request.auth.id)',
  });
  await database.query(
    `insert into ${tableOf(users)} (id, created_at, updated_at, email) select 'live' || i, 1, 1, i || '@example.org'
     from generate_series(1, $1::int) i`,
    [connections],
  );
  await database.query(
    `insert into ${tableOf('livememberships')} (id, created_at, updated_at, org, "user")
     select 'lm' || i, 1, 1, 'o' || (i / 10) % 1000, 'live' || 1 + i % $1::int from generate_series(1, 3 * $1::int) i`,
    [connections],
  );
  await database.query('vacuum (analyze)');
}

/** A session token as the product signs them (auth §8.2), without its own session. */
function tokenOf(secret: string, id: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const nowSec = Math.floor(Date.now() / 1000);
  const claims = {
    id,
    email: `${id.slice(4)}@example.org`,
    collection: users,
    aud: 'user',
    iat: nowSec,
    exp: nowSec + 3600,
  };
  const head = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
}
