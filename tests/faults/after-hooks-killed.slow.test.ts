import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../harness/eventually.ts';
import { listAt } from '../harness/json.ts';
import { endChild } from '../harness/processes/child.ts';
import { createGround, type Stack, startStack, type Topology } from '../harness/stacks/stack.ts';

const environment = {
  SERVICE_EXTENSIONS_DIR: fileURLToPath(new URL('../extensions/slow', import.meta.url)),
};
/** Another process takes over a dead one's work after 20 s. */
const takeUpTimeoutMs = 60_000;

async function createOrders(stack: Stack, count: number): Promise<string[]> {
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'slow_done', type: 'base', fields: [{ name: 'of', type: 'text' }] });
  await admin.post('/api/v1/collections', { name: 'slow_orders', type: 'base', fields: [] });
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await admin.create('slow_orders', {})).id);
  return ids;
}

const doneOf = async (stack: Stack): Promise<unknown[]> =>
  listAt((await (await stack.admin()).get('/api/v1/slow_done?perPage=1000')).json, 'data').map(({ of }) => of);

const someDone = (stack: Stack) =>
  eventually('some hooks have run', async () => (await doneOf(stack)).length > 2 || undefined);

const allDone = (stack: Stack, ids: readonly string[]) =>
  eventually(
    'the hook has run for each order',
    async () => {
      const done = new Set(await doneOf(stack).catch(() => []));
      const missing = ids.filter((id) => !done.has(id)).length;
      if (missing > 0) throw new Error(`${missing} are missing`);
      return true;
    },
    { timeoutMs: takeUpTimeoutMs, intervalMs: 500 },
  );

const kills: Record<Topology, (stack: Stack) => Promise<unknown>> = {
  one: (stack) => endChild(stack.process, 'SIGKILL'),
  async processes(stack) {
    process.kill(stack.services.records?.pid ?? 0, 'SIGKILL');
  },
};

test('no after hook is lost when its process is killed', { concurrency: true }, async (t) => {
  const tests = (Object.entries(kills) as [Topology, (stack: Stack) => Promise<unknown>][]).map(([topology, kill]) =>
    t.test(topology, async () => {
      await using ground = await createGround();
      const first = await startStack({ topology, ground, environment });
      let last = first;
      try {
        const ids = await createOrders(first, 30);
        await someDone(first);
        await kill(first);
        if (topology === 'one') last = await startStack({ topology, ground, environment });
        await allDone(last, ids);
      } finally {
        await last.stop();
        if (last !== first) await first.stop();
      }
    }),
  );
  await Promise.all(tests);
});
