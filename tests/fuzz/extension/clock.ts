import { cron, defineExtension, route } from '@recordbus/extensions';

/** A cron that admins run, and a route: operations in the document. */
export const extension = defineExtension({
  crons: [cron({ name: 'tick', schedule: '0 0 1 1 *', handler() {} })],
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
