import type { TestContext } from 'node:test';
import { allowLoopback } from '../harness/clients/webhook.ts';
import { runExamples } from '../harness/docs/documented.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { clearStack } from '../harness/stacks/clear-stack.ts';
import { onNewStacks, onOneProcess, type Target } from '../harness/stacks/target.ts';

onNewStacks('the pages have their own collections');

type Run = (t: TestContext, target: Target, page: string) => Promise<void>;

const withMails: Run = async (t, target, page) => {
  await using mail = await startMailServer();
  await (await target.admin()).patch('/api/v1/admin/settings', mail.settings);
  await runExamples(t, target, page, { mail });
};

const withReceiver: Run = async (t, target, page) => {
  await using receiver = await startReceiver();
  receiver.behave({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'thanks' });
  await allowLoopback(await target.admin());
  await runExamples(t, target, page, { names: [['receiver', receiver.url]] });
};

const pages: Readonly<Record<string, Run>> = {
  records: runExamples,
  filters: runExamples,
  batch: runExamples,
  collections: runExamples,
  fields: runExamples,
  rules: runExamples,
  files: runExamples,
  auth: withMails,
  webhooks: withReceiver,
  http: runExamples,
  keys: runExamples,
  admins: runExamples,
  events: runExamples,
  export: runExamples,
  import: runExamples,
  history: runExamples,
  schema: runExamples,
  identity: withMails,
  mail: withMails,
  notifications: runExamples,
  oauth: runExamples,
  realtime: runExamples,
  views: runExamples,
  vectors: runExamples,
  settings: runExamples,
  encryption: runExamples,
  operation: runExamples,
};

for (const [page, run] of Object.entries(pages))
  onOneProcess(`the examples in the reference on ${page} work`, async (t, target) => {
    await run(t, target, `reference/${page}.md`);
    await clearStack(await target.admin());
  });
