import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { allowLoopback } from '../harness/clients/webhook.ts';
import { runExamples } from '../harness/docs/documented.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { gone, phone, startPushServer } from '../harness/servers/push-server.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onOneProcess, stackEnvironment } from '../harness/stacks/target.ts';

const pages = ['extensions.md', 'jobs.md'].map((name) =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8'),
);
const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-extensions-'));

/** The pages' extensions as files, named by each code block's first line. */
for (const [, name = '', source = ''] of pages.join('\n').matchAll(/^```ts\n\/\/ extensions\/(\S+)\n(.*?)\n```$/gms))
  writeFileSync(join(directory, name), source);
for (const name of ['guestbook.ts', '_words.ts', 'reminders.ts'])
  cpSync(new URL(`../../examples/extensions/${name}`, import.meta.url), join(directory, name));
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

/** The services that the page's extensions call. */
const rates = await startReceiver();
rates.behave({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"usd": 1.17}' });
stackEnvironment.EXTENSION_RATES_URL = new URL(rates.url).origin;
const push = await startPushServer();
stackEnvironment.SERVICE_ONESIGNAL_URL = push.url;
after(() => Promise.all([rates, push].map((server) => server[Symbol.asyncDispose]())));

onOneProcess('the examples on the page about extensions work', async (t, target) => {
  await allowLoopback(await target.admin());
  await runExamples(t, target, 'extensions.md');
  assert.equal((await target.guest.get('/api/x/rates/EUR')).status, 200);
  assert.deepEqual(
    rates.deliveries.map(({ path }) => path),
    ['/EUR'],
  );
});

onOneProcess('the examples on the page about jobs work', async (t, target) => {
  await runExamples(t, target, 'jobs.md');
  const admin = await target.admin();
  await eventually('the invoice is written', async () => {
    const { json } = await admin.get('/api/v1/invoices');
    return at(json, 'data.0.total') === 60;
  });
});

onOneProcess('the examples of the reference on extensions work', (t, target) =>
  runExamples(t, target, 'reference/extensions.md'),
);

onOneProcess("the page's welcome mail is sent", async (_t, target) => {
  const admin = await target.admin();
  await using mail = await startMailServer();
  await admin.patch('/api/v1/admin/settings', mail.settings);
  const fields = ['name', 'email'].map((name) => ({ name, type: 'text' }));
  await admin.post('/api/v1/collections', { name: 'customers', type: 'base', fields });
  await admin.post('/api/v1/customers', { name: 'Grace', email: 'grace@example.com' });
  const { email } = await mail.mailTo('grace@example.com');
  assert.deepEqual([email.subject, email.text?.trim()], ['Welcome', 'Hello Grace!']);
});

onOneProcess("the page's alarm is pushed and gets its result", async (_t, target) => {
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', {
    'notifications.providers.onesignal.enabled': '1',
    'notifications.providers.onesignal.app_id': push.appId,
    'notifications.providers.onesignal.api_key': push.apiKey,
  });
  const fields = ['device', 'text', 'result'].map((name) => ({ name, type: 'text' }));
  await admin.post('/api/v1/collections', { name: 'alarms', type: 'base', fields });
  const resultFor = async (device: string): Promise<unknown> => {
    const alarm = await admin.post('/api/v1/alarms', { device, text: 'The door is open' });
    return eventually('the alarm has a result', async () => {
      const { json } = await admin.get(`/api/v1/alarms/${alarm.id}`);
      return at(json, 'data.result') ?? undefined;
    });
  };
  assert.equal(await resultFor(phone), 'sent');
  assert.equal(await resultFor(gone), 'invalid');
});

onOneProcess('the guestbook in examples/extensions works', async (_t, target) => {
  const admin = await target.admin();
  const fields = ['name', 'message'].map((name) => ({ name, type: 'text' }));
  await admin.post('/api/v1/collections', { name: 'guestbook', type: 'base', fields });
  const sign = (message: string) => target.guest.send('POST', '/api/v1/guestbook', { body: { name: ' ', message } });
  const signed = await sign('What a lovely place');
  assert.equal(at(signed.json, 'data.name'), 'a visitor');
  assert.equal((await sign('What rubbish')).status, 422);
  await eventually('the entry is counted', async () => {
    const { json } = await target.guest.get('/api/x/guestbook/entries');
    return at(json, 'data.entries') === 1 || undefined;
  });
});

onOneProcess('the reminders in examples/extensions work', async (_t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'about', type: 'text' },
    { name: 'state', type: 'text' },
    { name: 'due', type: 'date' },
  ];
  await admin.post('/api/v1/collections', { name: 'reminders', type: 'base', fields });
  const { id } = await admin.create('reminders', { about: 'the tea', due: Math.floor(Date.now() / 1000) + 1 });
  await eventually('the reminder is sent', async () => {
    const { json } = await admin.get(`/api/v1/reminders/${id}`);
    return at(json, 'data.state') === 'sent';
  });
});
