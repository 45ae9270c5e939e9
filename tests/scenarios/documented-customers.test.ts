import { runExamples } from '../harness/documented.ts';
import { startReceiver } from '../harness/receiver.ts';
import { onOneProcess } from '../harness/target.ts';
import { allowLoopback } from '../harness/webhook.ts';

onOneProcess('docs/webhooks-for-customers.md leads from a shop to a portal link', async (t, target) => {
  await using receiver = await startReceiver();
  await allowLoopback(await target.admin());
  const names = [
    ['receiver', receiver.url],
    ['host', new URL(receiver.url).host],
  ] as const;
  await runExamples(t, target, 'webhooks-for-customers.md', { names });
});
