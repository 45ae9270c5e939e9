import { cron, defineExtension, type HandlerTools, job, refuse, route, type Tools, z } from '@recordbus/extensions';

const named = z.object({ name: z.string().min(1) });
const enqueue = z.object({
  job: z.string(),
  input: z.unknown(),
  options: z.record(z.string(), z.unknown()).default({}),
});

/** Leaves a trace of an attempt. */
const trace = (tools: Tools, name: string, attempt = 1) => tools.records.create('job_effects', { name, attempt });

async function holdUntilOpen({ kv }: HandlerTools, gate: string): Promise<void> {
  while ((await kv.get(gate)) !== true) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Jobs, and routes and hooks that ask for them. */
export const extension = defineExtension({
  jobs: {
    note: job({
      input: named,
      handler: async ({ input, attempt }, tools) => void (await trace(tools, input.name, attempt)),
    }),
    keyed: job({
      input: named,
      key: ({ name }) => name,
      handler: async ({ input, key }, tools) => void (await trace(tools, `${input.name} by ${key}`)),
    }),
    ordered: job({
      input: named,
      concurrency: 1,
      async handler({ input }, tools) {
        if (input.name.startsWith('gate')) await holdUntilOpen(tools, input.name);
        else await trace(tools, input.name);
      },
    }),
    held: job({
      input: named,
      key: ({ name }) => name,
      timeout_s: 600,
      async handler({ input, progress }, tools) {
        await progress(40, 'at the gate');
        await trace(tools, `${input.name} began`);
        await holdUntilOpen(tools, input.name);
        await trace(tools, `${input.name} passed`);
      },
    }),
    throws: job({
      input: named,
      retry: { max: 2, backoff: 0 },
      async handler({ input, attempt }, tools) {
        await trace(tools, input.name, attempt);
        if ((await tools.kv.get(`cured ${input.name}`)) !== true) throw new Error(`out of luck at ${attempt}`);
      },
    }),
    loops: job({
      input: named,
      retry: { max: 0 },
      timeout_s: 2,
      handler: () => {
        for (;;);
      },
    }),
    waits: job({ input: named, retry: { max: 0 }, timeout_s: 1, handler: () => new Promise<void>(() => {}) }),
    leaks: job({
      input: named,
      retry: { max: 0 },
      handler() {
        const all = [];
        for (;;) all.push(new Array(100_000).fill(1));
      },
    }),
    exits: job({ input: named, retry: { max: 0 }, handler: () => process.kill(process.pid, 'SIGKILL') }),
    transfers: job({
      input: named,
      retry: { max: 0 },
      async handler({ input }, tools) {
        await tools.transaction(async (within) => {
          await trace(within, `${input.name} in a transaction`);
          await within.jobs.enqueue('work.note', { name: `${input.name} followed` });
        });
      },
    }),
    alone: job({
      input: named,
      concurrency: 1,
      async handler(_run, tools) {
        if ((await tools.kv.increment('alone')) > 1) await trace(tools, 'overlap');
        await new Promise((resolve) => setTimeout(resolve, 20));
        await tools.kv.increment('alone', -1);
      },
    }),
    plain: job({
      input: z.unknown(),
      handler: async ({ input }, tools) => tools.kv.set('plain', JSON.stringify(input)),
    }),
    slowly: job({
      input: named,
      handler: async ({ input, id }, tools) =>
        tools.transaction(async (within) => {
          if (await within.kv.setIfAbsent(`done ${id}`, true)) await trace(within, input.name);
        }),
    }),
  },
  hooks: {
    job_orders: {
      async beforeCreate({ values }, { jobs }) {
        await jobs.enqueue('work.note', { name: `order ${values.name}` });
        if (values.name === 'refused') throw refuse(409, 'not today');
      },
    },
  },
  crons: [
    cron({
      name: 'asks',
      schedule: '0 0 1 1 *',
      handler: async (_run, { jobs }) => void (await jobs.enqueue('work.note', { name: 'by the cron' })),
    }),
  ],
  routes: [
    route({
      method: 'POST',
      path: '/jobs',
      access: 'public',
      body: enqueue,
      handler: ({ body }, { jobs }) => jobs.enqueue(body.job, body.input, body.options),
    }),
    route({
      method: 'POST',
      path: '/jobs/many',
      access: 'public',
      body: z.object({ job: z.string(), names: z.array(z.string()) }),
      timeoutMs: 50_000,
      handler: ({ body }, { transaction }) =>
        transaction(async ({ jobs }) => {
          for (const name of body.names) await jobs.enqueue(body.job, { name });
          return { asked: body.names.length };
        }),
    }),
    route({
      method: 'POST',
      path: '/jobs/together',
      access: 'public',
      body: z.object({ name: z.string(), fails: z.boolean().default(false) }),
      handler: ({ body }, { transaction }) =>
        transaction(async ({ records, jobs }) => {
          const { id } = await jobs.enqueue('work.note', { name: `with ${body.name}` });
          await records.create('job_orders', { name: body.name });
          if (body.fails) throw refuse(409, 'not today');
          return id;
        }),
    }),
    route({
      method: 'POST',
      path: '/jobs/cancel',
      access: 'public',
      body: z.object({ key: z.string(), job: z.string().optional(), fails: z.boolean().default(false) }),
      handler: ({ body }, { transaction }) =>
        transaction(async ({ jobs }) => {
          const cancelled = await jobs.cancel(body.key, body.job);
          if (body.fails) throw refuse(409, 'not today');
          return cancelled;
        }),
    }),
    route({
      method: 'POST',
      path: '/jobs/set',
      access: 'public',
      body: z.object({ key: z.string(), value: z.unknown() }),
      handler: ({ body }, { kv }) => kv.set(body.key, body.value).then(() => null),
    }),
    route({ method: 'GET', path: '/jobs/plain', access: 'public', handler: (_request, { kv }) => kv.get('plain') }),
    route({ method: 'GET', path: '/jobs/hello', access: 'public', handler: () => 'hello' }),
  ],
});
