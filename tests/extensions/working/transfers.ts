import { type Caller, cron, defineExtension, refuse, route, type Tools, z } from '@recordbus/extensions';

const body = z.object({ names: z.array(z.string()).default([]), how: z.string().default('') });

/** What a transaction does after it has created a record for each name. */
const endings: Readonly<Record<string, (tools: Tools, caller: Caller) => unknown>> = {
  refuses: () => {
    throw refuse(409, 'not today');
  },
  dispatches: async ({ webhooks, kv }) => {
    await webhooks.dispatch('transfer.done', {});
    await kv.increment('done');
  },
  'dispatches and refuses': async (tools) => {
    await tools.webhooks.dispatch('transfer.done', {});
    await tools.kv.increment('done');
    throw refuse(409, 'not today');
  },
  'is refused to the caller': ({ records }, caller) => records.as(caller).create('transfer_vault', { name: 'x' }),
  'sees what it wrote': async ({ records }) => (await records.list('transfers', { sort: 'name' })).totalItems,
};

/** Routes and a cron that write in transactions. */
export const extension = defineExtension({
  hooks: {
    transfers: {
      async beforeCreate({ values }, { records }) {
        if (values.name === 'hooked') await records.create('transfer_notes', { text: 'by the hook' });
      },
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/transfers',
      access: 'public',
      body,
      handler: ({ body: { names, how }, caller }, { transaction }) =>
        transaction(async (tools) => {
          for (const name of names) await tools.records.create('transfers', { name });
          return (await endings[how]?.(tools, caller)) ?? null;
        }),
    }),
    route({
      method: 'POST',
      path: '/transfers/caught',
      access: 'public',
      body,
      handler: ({ body: { names } }, { transaction }) =>
        transaction(async ({ records }) => {
          const refused: string[] = [];
          for (const name of names) await records.create('transfers', { name }).catch(() => refused.push(name));
          return refused;
        }),
    }),
    route({
      method: 'POST',
      path: '/transfers/nested',
      access: 'public',
      body,
      handler: ({ body: { how } }, { transaction, records }) =>
        transaction(async (tools) => {
          await tools.records.create('transfers', { name: `nested ${how}` });
          const again =
            how === 'inner' ? (tools as typeof tools & { transaction: typeof transaction }).transaction : transaction;
          await again(async () => records.create('transfers', { name: 'never' }));
        }).catch((error: Error) => error.message),
    }),
    route({
      method: 'POST',
      path: '/transfers/count',
      access: 'public',
      body: z.object({ id: z.string() }),
      handler: ({ body: { id } }, { transaction }) =>
        transaction(async ({ records }) => {
          const { n } = await records.lock('transfer_counters', id);
          return (await records.update('transfer_counters', id, { n: Number(n) + 1 })).n;
        }),
    }),
    route({
      method: 'POST',
      path: '/transfers/cross',
      access: 'public',
      body: z.object({ ids: z.array(z.string()) }),
      handler: ({ body: { ids } }, { transaction }) =>
        transaction(async ({ records, log }) => {
          for (const id of ids) {
            const { n } = await records.lock('transfer_counters', id);
            log.debug('locked');
            await new Promise((resolve) => setTimeout(resolve, 200));
            await records.update('transfer_counters', id, { n: Number(n) + 1 });
          }
        }),
    }),
    route({
      method: 'GET',
      path: '/transfers/done',
      access: 'public',
      handler: async (_request, { kv }) => (await kv.get('done')) ?? 0,
    }),
    route({
      method: 'POST',
      path: '/transfers/leaks',
      access: 'public',
      async handler(_request, { transaction }) {
        const { records } = await transaction((tools) => tools);
        return records.create('transfers', { name: 'late' }).catch((error: Error) => error.message);
      },
    }),
  ],
  crons: [
    cron({
      name: 'moves',
      schedule: '0 0 1 1 *',
      handler: (_run, { transaction }) =>
        transaction(async ({ records }) => {
          await records.create('transfers', { name: 'cron' });
          await records.create('transfers', { name: 'taken' });
        }),
    }),
  ],
});
