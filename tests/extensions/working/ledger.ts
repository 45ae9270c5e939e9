import { defineExtension, refuse } from '@recordbus/extensions';

/** After hooks that keep a ledger of writes. An event may come twice, so they store its id. */
export const extension = defineExtension({
  hooks: {
    '*': {
      async afterDelete(event, { records }) {
        if (event.collection === 'ledger_items')
          await records.create('ledger', { entry: `gone ${event.record.title}` });
      },
    },
    ledger_items: {
      async afterCreate({ id, record, actor }, { records, kv, webhooks }) {
        if (record.title === 'at the third try' && (await kv.increment(`tries ${id}`)) < 3)
          throw refuse(503, 'not yet');
        if (!(await kv.setIfAbsent(`seen ${id}`, true, { ttlSec: 3600 }))) return;
        await records.create('ledger', { entry: `made ${record.title} by ${actor.type}` });
        await webhooks.dispatch('ledger.written', { title: record.title });
      },
      async afterUpdate({ record, previous, changed }, { records }) {
        await records.create('ledger', { entry: `${previous?.title} to ${record.title}: ${changed?.join()}` });
      },
    },
  },
});
