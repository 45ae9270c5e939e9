import { defineExtension, refuse, route } from '@recordbus/extensions';
import { findBadWord } from './_words.ts';

/** Needs a collection `guestbook` with the text fields `name` and `message`. */
export const extension = defineExtension({
  hooks: {
    guestbook: {
      beforeCreate({ values }) {
        const word = findBadWord(String(values.message ?? ''));
        if (word) throw refuse(422, 'validation failed', { message: `has the word ${word}` });
        values.name = String(values.name ?? '').trim() || 'a visitor';
      },
      async afterCreate({ id, record }, { kv, webhooks }) {
        if (!(await kv.setIfAbsent(`counted ${id}`, true, { ttlSec: 8 * 24 * 3600 }))) return;
        const entries = await kv.increment('entries');
        await webhooks.dispatch('guestbook.signed', { name: record.name, entries });
      },
    },
  },
  routes: [
    route({
      method: 'GET',
      path: '/guestbook/entries',
      access: 'public',
      summary: 'How many have signed the guestbook',
      handler: async (_request, { kv }) => ({ entries: (await kv.get('entries')) ?? 0 }),
    }),
  ],
});
