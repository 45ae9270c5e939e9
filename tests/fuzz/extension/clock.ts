import { cron, defineExtension, route } from '@recordbus/extensions';

/** A cron to be run by hand, and a route: both are operations like any other. */
export const extension = defineExtension({
  crons: [cron({ name: 'tick', schedule: '0 0 1 1 *', handler() {} })],
  routes: [
    route({
      method: 'GET',
      path: '/clock/echo',
      access: 'public',
      summary: 'Give the query back',
      handler: async ({ query }) => ({ query }),
    }),
  ],
});
