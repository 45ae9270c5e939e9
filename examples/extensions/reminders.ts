import { defineExtension, job, z } from '@recordbus/extensions';

/** Needs a collection `reminders` with the text fields `about` and `state`, and the date field `due`. */
export const extension = defineExtension({
  jobs: {
    remind: job({
      input: z.object({ id: z.string(), about: z.string() }),
      // A reminder that is moved has one job, not two.
      key: ({ id }) => id,
      retry: { max: 5, backoff: [10, 60, 600] },
      async handler({ input }, { transaction }) {
        await transaction(async ({ records, webhooks }) => {
          await records.update('reminders', input.id, { state: 'sent' });
          await webhooks.dispatch('reminders.due', { about: input.about });
        });
      },
    }),
  },
  hooks: {
    reminders: {
      async afterCreate({ record }, { jobs }) {
        const input = { id: String(record.id), about: String(record.about) };
        await jobs.enqueue('reminders.remind', input, { at: Number(record.due ?? 0) });
      },
      async beforeDelete({ id }, { jobs }) {
        await jobs.cancel(id);
      },
    },
  },
});
