import { cron, defineExtension } from '@recordbus/extensions';

/** Crons that an admin can run by hand. */
export const extension = defineExtension({
  crons: [
    cron({
      name: 'tidy',
      schedule: '30 3 * * 1-5',
      timeZone: 'Europe/Vienna',
      missed: 'run once',
      async handler({ name, isManual }, { kv }) {
        await kv.set('ran', { name, isManual });
      },
    }),
    cron({
      name: 'fails',
      schedule: '0 0 1 1 *',
      handler() {
        throw new Error('out of luck');
      },
    }),
    cron({
      name: 'sleeps',
      schedule: '0 0 1 1 *',
      timeoutMs: 10_000,
      handler: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
    }),
  ],
});
