import { type BatchOperation, defineExtension, type Records, refuse, route, z } from '@recordbus/extensions';

const body = z.object({
  operations: z.array(z.unknown()),
  as: z.enum(['admin', 'caller', 'guest']).default('admin'),
  /** Whether it happens in a transaction, and whether that is rolled back. */
  within: z.enum(['nothing', 'transaction', 'rolled back']).default('nothing'),
});

/** A route that runs a batch, and hooks that write a note for each create and refuse some. */
export const extension = defineExtension({
  hooks: {
    hooked_things: {
      async beforeCreate({ values }, { records }) {
        if (values.name === 'refused') throw refuse(409, 'not this one');
        const { totalItems } = await records.list('hooked_notes');
        await records.create('hooked_notes', { name: values.name });
        Object.assign(values, { seen: totalItems });
      },
      beforeUpdate: ({ values }) => void Object.assign(values, { name: `${values.name}!` }),
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/batch',
      access: 'public',
      body,
      handler({ body: { operations, as, within }, caller }, { records, transaction }) {
        const run = (given: Records) => {
          const acting = as === 'admin' ? given : given.as(as === 'guest' ? { type: 'guest' } : caller);
          return acting.batch(operations as BatchOperation[]);
        };
        if (within === 'nothing') return run(records);
        return transaction(async (tools) => {
          const results = await run(tools.records);
          if (within === 'rolled back') throw refuse(409, 'not today');
          return results;
        });
      },
    }),
  ],
});
