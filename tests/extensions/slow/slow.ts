import { defineExtension } from '@recordbus/extensions';

/** An after hook that takes long enough for a test to kill its process meanwhile. */
export const extension = defineExtension({
  hooks: {
    slow_orders: {
      async afterCreate({ record }, { records, kv }) {
        await kv.increment('begun');
        await new Promise((resolve) => setTimeout(resolve, 150));
        await records.create('slow_done', { of: record.id });
      },
    },
  },
});
