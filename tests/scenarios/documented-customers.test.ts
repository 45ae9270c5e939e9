import { allowLoopback } from '../harness/clients/webhook.ts';
import { runExamples } from '../harness/docs/documented.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

onOneProcess('docs/webhooks-for-customers.md leads from a shop to a portal link', async (t, target) => {
  await using receiver = await startReceiver();
  await allowLoopback(await target.admin());
  const names = [
    ['receiver', receiver.url],
    ['host', new URL(receiver.url).host],
  ] as const;
  await runExamples(t, target, 'webhooks-for-customers.md', { names });
});
