import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBusReader } from '../../harness/clients/bus-reader.ts';
import type { Client } from '../../harness/clients/client.ts';
import { createWebhook, deliveriesOf } from '../../harness/clients/webhook.ts';
import { eventually } from '../../harness/eventually.ts';
import { loggedErrors } from '../../harness/processes/logs.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import { firstAdmin, type Stack } from '../../harness/stacks/stack.ts';
import type { Replicas } from './start-replicas.ts';

const events = 60;

/** One replica's admins, settings, collections, events and writes take effect on the other, each once. */
export async function asOne(t: TestContext, { first, second }: Replicas): Promise<void> {
  await using receiver = await startReceiver();
  await using bus = await openBusReader(first.natsUrl, { isFromNow: true });
  const admin = await first.admin();

  await t.test("one replica's admin signs in at the other", async () => {
    const login = await second.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin });
    assert.equal(login.status, 200, login.text);
  });

  await t.test("the other replica's set-up token no longer works [admins §1.1]", async () => {
    const body = { ...firstAdmin, token: second.setupToken ?? 'none' };
    assert.equal((await second.guest.send('POST', '/api/v1/admin/setup', { body })).status, 409);
  });

  await t.test('the other replica serves a new collection [collections §9.2]', async () => {
    await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'n', type: 'number' }] });
    await eventually(
      'the other replica serves it',
      async () => (await second.guest.get('/api/v1/notes')).status === 200,
    );
  });

  await t.test('a setting applies on the other replica [settings §2]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'app.url': 'https://app.example' });
    const other = await second.admin();
    await eventually('the other replica has the setting', async () =>
      (await other.get('/api/v1/admin/settings')).text.includes('https://app.example'),
    );
  });

  await t.test('every event from both replicas is published and delivered once', async () => {
    const { id } = await createWebhook(admin, receiver.url, ['notes.*']);
    const other = await second.admin();
    await eventually('the other replica has the webhook', async () => (await deliveriesOf(other, id)).length === 0);
    await Promise.all([writeNotes(first), writeNotes(second)]);
    await receiver.received(2 * events);
    assert.equal(new Set(receiver.deliveries.map(({ json }) => json.id)).size, 2 * events);
    assert.equal(receiver.deliveries.length, 2 * events);
    await eventually('the bus has every event', () => bus.events.length >= 2 * events);
    assert.equal(bus.events.length, 2 * events);
  });

  await t.test("one record's events are in its writes' order [events §3.2]", async () => {
    const { id } = await first.guest.create('notes', { n: 0 });
    await Promise.all(
      [first, second].map(async ({ guest }) => {
        for (let n = 0; n < 10; n += 1) await guest.patch(`/api/v1/notes/${id}`, { n });
      }),
    );
    const versionsOf = () =>
      bus.events.flatMap(({ body }) => {
        const { record } = body.data as { record: { id: string } };
        return record.id === id ? [String(body.version)] : [];
      });
    await eventually('21 events', () => versionsOf().length === 21);
    const versions = versionsOf();
    const orderOf = (version: string) => version.split('.').map(Number);
    const inOrder = [...new Set(versions)].sort((a, b) => {
      const [[secondA = 0, revisionA = 0], [secondB = 0, revisionB = 0]] = [orderOf(a), orderOf(b)];
      return secondA - secondB || revisionA - revisionB;
    });
    assert.deepEqual(versions, inOrder);
  });

  await t.test('among several writes to one version, one succeeds [records §9.1]', async () => {
    const { id, updated } = await first.guest.create('notes', { n: 0 });
    const change = (guest: Client) =>
      guest.send('PATCH', `/api/v1/notes/${id}`, { body: { n: 1 }, headers: { 'If-Match': `W/"${updated}"` } });
    const answers = await Promise.all([change(first.guest), change(second.guest), change(first.guest)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412]);
  });

  await t.test('among several new collections with one name, one is created [collections §9.1]', async () => {
    const body = { name: 'raced', type: 'base', fields: [] };
    const other = await second.admin();
    const made = await Promise.all(
      [admin, other, admin, other].map((client) => client.send('POST', '/api/v1/collections', { body })),
    );
    assert.deepEqual(made.map(({ status }) => status).sort(), [201, 400, 400, 400]);
  });

  await t.test('no error was logged', () => {
    assert.deepEqual(loggedErrors([...first.process.lines, ...second.process.lines]), []);
  });
}

async function writeNotes({ guest }: Stack): Promise<void> {
  for (let n = 0; n < events; n += 1) await guest.create('notes', { n });
}
