import { defineExtension, route } from '@recordbus/extensions';

/** Asks for another extension's jobs. */
export const extension = defineExtension({
  routes: [
    route({
      method: 'POST',
      path: '/neighbour/:name',
      access: 'public',
      handler: ({ params }, { jobs }) => jobs.enqueue('work.keyed', { name: params.name }),
    }),
    route({
      method: 'POST',
      path: '/neighbour/:name/cancel',
      access: 'public',
      handler: ({ params: { name = '' } }, { jobs }) => jobs.cancel(name, 'work.keyed'),
    }),
  ],
});
