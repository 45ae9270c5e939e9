import { defineExtension, type Records, refuse, route, z } from '@recordbus/extensions';

const body = z.object({
  collection: z.string(),
  /** A put's id; without it, an upsert's `on`. */
  id: z.string().optional(),
  on: z.union([z.string(), z.array(z.string())]).default(''),
  values: z.record(z.string(), z.unknown()),
  as: z.enum(['admin', 'caller', 'guest']).default('admin'),
  /** Whether it happens in a transaction, and whether that is rolled back. */
  within: z.enum(['nothing', 'transaction', 'rolled back']).default('nothing'),
});

/** A route that creates or changes a record, and hooks that note which one happened. */
export const extension = defineExtension({
  hooks: {
    put_things: {
      beforeCreate: ({ values }) => void Object.assign(values, { hook: 'create' }),
      beforeUpdate: ({ values }) => void Object.assign(values, { hook: 'update' }),
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/put',
      access: 'public',
      body,
      handler({ body: { collection, id, on, values, as, within }, caller }, { records, transaction }) {
        const put = (given: Records) => {
          const acting = as === 'admin' ? given : given.as(as === 'guest' ? { type: 'guest' } : caller);
          return id === undefined ? acting.upsert(collection, on, values) : acting.put(collection, id, values);
        };
        if (within === 'nothing') return put(records);
        return transaction(async (tools) => {
          const record = await put(tools.records);
          if (within === 'rolled back') throw refuse(409, 'not today');
          return record;
        });
      },
    }),
  ],
});
