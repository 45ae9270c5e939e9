import { cron, defineExtension, type HandlerTools, job, route, z } from '@recordbus/extensions';

const about = z.object({ person: z.string().optional(), email: z.string().optional(), text: z.string() });

async function holdUntil({ kv }: HandlerTools, gate: string): Promise<void> {
  while ((await kv.get(gate)) !== true) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Jobs, a cron and hooks that have a person's data while it is erased. */
export const extension = defineExtension({
  jobs: {
    later: job({
      input: about,
      handler: async ({ input }, tools) => void (await tools.records.create('kept_heard', { text: input.text })),
    }),
    keyed: job({ input: z.object({}), handler: () => {} }),
    breaks: job({
      input: about,
      retry: { max: 0 },
      handler({ input }) {
        throw new Error(`cannot greet ${input.text}`);
      },
    }),
    held: job({
      input: about,
      timeout_s: 600,
      async handler({ input, progress }, tools) {
        await tools.kv.set('held began', true);
        await progress(10, `at the gate with ${input.text}`);
        await holdUntil(tools, 'gate');
        await tools.kv.set('held passed', true);
        throw new Error(`lost ${input.text}`);
      },
    }),
  },
  onMail(mail) {
    throw new Error(`nobody reads ${mail.subject}`);
  },
  crons: [
    cron({
      name: 'greets',
      schedule: '0 0 1 1 *',
      async handler(_run, { records }) {
        const { data } = await records.list('everywhere_people', { perPage: 1 });
        throw new Error(`cannot greet ${data[0]?.full_name} at ${data[0]?.email}`);
      },
    }),
  ],
  hooks: {
    kept_people: {
      async afterCreate({ record }, { kv, records }) {
        if ((await kv.get('listens')) !== true) throw new Error('nobody listens yet');
        await records.create('kept_heard', { text: String(record.name) });
      },
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/kept/jobs',
      access: 'public',
      body: z.object({ job: z.string(), input: z.unknown(), options: z.record(z.string(), z.unknown()).default({}) }),
      handler: ({ body }, { jobs }) => jobs.enqueue(body.job, body.input, body.options),
    }),
    route({
      method: 'POST',
      path: '/kept/values',
      access: 'public',
      body: z.object({ key: z.string() }),
      handler: ({ body }, { kv }) => kv.set(body.key, true).then(() => null),
    }),
    route({
      method: 'GET',
      path: '/kept/values',
      access: 'public',
      query: z.object({ key: z.string() }),
      handler: async ({ query }, { kv }) => (await kv.get(query.key)) === true,
    }),
  ],
});
