import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type PostgresPair, startPostgresPair } from '../harness/servers/postgres-pair.ts';
import { createGround, type Stack, startStack, type Topology } from '../harness/stacks/stack.ts';

export const collection = 'notes';
const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
export const definition = { name: collection, type: 'base', fields: [{ name: 'value', type: 'number' }], ...open };

/** A stack whose reads may run on a standby of its database. */
export interface Replicated extends AsyncDisposable {
  readonly pair: PostgresPair;
  readonly stack: Stack;
  readonly admin: Client;
  /** Another gateway on the same database, and its services. */
  readonly other: Stack;
}

/** Starts it, with a notes collection that anyone may read and write, and an accounts collection. */
export async function startReplicated(topology: Topology): Promise<Replicated> {
  const kept = new AsyncDisposableStack();
  const pair = kept.use(await startPostgresPair('asynchronous'));
  const ground = kept.use(await createGround({ url: pair.url, drop: async () => {} }));
  const environment = { SERVICE_DATABASE_REPLICA_URLS: pair.standbyUrl };
  const stack = kept.use(await startStack({ topology, ground, environment }));
  const other = kept.use(await startStack({ topology: 'one', beside: ground, environment }));
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1' });
  await admin.post('/api/v1/collections', definition);
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth', create_rule: null });
  await eventually('metrics are served', async () => (await stack.guest.get('/api/v1/metrics')).status === 200);
  return { pair, stack, other, admin, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Returns how many reads had this result so far. */
export async function readsOf({ stack }: Replicated, result: 'replica' | 'behind' | 'failed'): Promise<number> {
  const { text } = await stack.guest.get('/api/v1/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('recordbus_read_replica_reads_total{'));
  const counted = lines.filter((line) => line.includes(`result="${result}"`));
  return counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Sets how long the standby waits before it applies a commit. */
export async function delay({ pair }: Replicated, by: string): Promise<void> {
  await pair.onStandby(`alter system set recovery_min_apply_delay = '${by}'`);
  await pair.onStandby('select pg_reload_conf()');
}

/** Waits until the standby has caught up with the primary. */
export const level = ({ pair }: Replicated): Promise<unknown> =>
  eventually('the standby is level', async () => {
    const [primary] = await pair.onPrimary('select pg_current_wal_lsn()::text as lsn');
    const [standby] = await pair.onStandby(`select pg_last_wal_replay_lsn() >= '${primary?.lsn}' as has`);
    return standby?.has === true;
  });

/** Stops the standby from applying anything while the function runs. After 25 s, no client read uses it. */
export async function whileBehind<T>(replicated: Replicated, run: () => Promise<T>): Promise<T> {
  const { pair } = replicated;
  await level(replicated);
  await pair.onStandby('select pg_wal_replay_pause()');
  try {
    await eventually('the standby has stopped applying', async () => {
      const [row] = await pair.onStandby("select pg_get_wal_replay_pause_state() = 'paused' as is_paused");
      return row?.is_paused === true;
    });
    return await run();
  } finally {
    await pair.onStandby('select pg_wal_replay_resume()');
  }
}
