import { cron, defineExtension, job, route, z } from '@recordbus/extensions';

/** A cron that admins run and that asks for a job, a route, and a hook for mails: operations in the document. */
export const extension = defineExtension({
  onMail() {},
  jobs: { later: job({ input: z.object({ n: z.number() }), handler() {} }) },
  crons: [
    cron({
      name: 'tick',
      schedule: '0 0 1 1 *',
      handler: async (_run, { jobs }) => {
        await jobs.enqueue('clock.later', { n: 1 }, { in_s: 86_400 });
      },
    }),
  ],
  routes: [
    route({
      method: 'GET',
      path: '/clock/echo',
      access: 'public',
      summary: 'Return the query',
      handler: async ({ query }) => ({ query }),
    }),
  ],
});
