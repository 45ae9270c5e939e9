import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createWebhook, webhooksPath } from './harness/clients/webhook.ts';
import { everyRecordArrives, writeBurst } from './harness/clients/write-burst.ts';
import { eventually } from './harness/eventually.ts';
import { at, listAt } from './harness/json.ts';
import { runCli } from './harness/processes/cli.ts';
import { missingPgBouncer, startPgBouncer } from './harness/servers/pgbouncer.ts';
import { receivedRecordIds, startReceiver } from './harness/servers/receiver.ts';
import { createDatabase } from './harness/servers/servers.ts';
import { createGround, environmentOf, startStack } from './harness/stacks/stack.ts';

test('behind PgBouncer, which pools by transaction, everything works', { skip: missingPgBouncer() }, async (t) => {
  const database = await createDatabase();
  // Few connections, so that a client's statements run on many of them.
  await using pooler = await startPgBouncer(database.url, { default_pool_size: '6' });
  const url = await pooler.through(database.url);
  await using ground = await createGround({ url, drop: database.drop });
  await using stack = await startStack({ topology: 'one', ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  assert.ok(stack.process.lines.some((line) => line.includes('behind a pooler')));

  await t.test('writes, their events and all kinds of reads', async () => {
    await admin.post('/api/v1/collections', {
      name: 'meters',
      type: 'base',
      fields: [{ name: 'value', type: 'number' }],
    });
    await createWebhook(admin, receiver.url, ['meters.*']);
    assert.equal(await writeBurst({ url: stack.url, collection: 'meters', count: 300, body: { value: 7 } }), 300);
    assert.deepEqual(await everyRecordArrives(admin, receiver, 'meters'), []);
    const [first = ''] = receivedRecordIds(receiver);
    const reads = ['', '?filter=value%3D7&sort=-value&perPage=5', `/${first}`, '/export?format=ndjson'];
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, index) => stack.guest.get(`/api/v1/meters${reads[index % reads.length]}`)),
    );
    assert.deepEqual(
      [...new Set(answers.map(({ status }) => status))],
      [200],
      answers.find((one) => one.status !== 200)?.text,
    );
    assert.equal(at(answers[0]?.json, 'totalItems'), 300);
  });

  await t.test('lists succeed while their collection changes', async () => {
    const field = (name: string) => ({ name, type: 'text' });
    const { id } = await admin.post('/api/v1/collections', { name: 'moving', type: 'base', fields: [field('kept')] });
    const failures: string[] = [];
    let isOver = false;
    const readers = Array.from({ length: 24 }, async () => {
      while (!isOver) {
        const { status, text } = await stack.guest.get('/api/v1/moving?skipTotal=1');
        if (status !== 200) failures.push(`${status} ${text}`);
      }
    });
    for (let round = 0; round < 15; round += 1)
      await admin.patch(`/api/v1/collections/${id}`, { fields: [field('kept'), field(`added_${round}`)] });
    isOver = true;
    await Promise.all(readers);
    assert.deepEqual(failures, []);
  });

  await t.test('users sign up, and rules decide about writes', async () => {
    await stack.user();
    await admin.post('/api/v1/collections', {
      name: 'slow',
      type: 'base',
      fields: [{ name: 'note', type: 'text' }],
      create_rule: 'note != "x"',
    });
    const statusOf = async (note: string) =>
      (await stack.guest.send('POST', '/api/v1/slow', { body: { note } })).status;
    assert.deepEqual([await statusOf('y'), await statusOf('x')], [201, 403]);
  });

  await t.test('no setting stays on a connection to the server', async () => {
    const client = new pg.Client(url);
    await client.connect();
    const seen = new Set<string>();
    for (let turn = 0; turn < 30; turn += 1) {
      const { rows } = await client.query(
        "select current_setting('default_transaction_read_only') || current_setting('statement_timeout') || current_setting('role') as found",
      );
      seen.add(rows[0].found);
    }
    await client.end();
    assert.deepEqual([...seen], ['off0none']);
  });

  await t.test('a command says that it needs its own session', async () => {
    const refused = await admin.send('POST', '/api/v1/admin/backups', { body: {} });
    assert.deepEqual([refused.status, at(refused.json, 'code')], [409, 'pooled_database']);
    const { code, stderr } = await runCli(['backup', 'create', `${ground.dataDirectory}/backup.tar.gz`], {
      environment: environmentOf(ground),
    });
    assert.equal(code, 1);
    assert.match(stderr, /behind a pooler.* name the server itself/);
  });

  await t.test('webhooks are changed while events arrive', async () => {
    const [webhook] = listAt((await admin.get(webhooksPath)).json, 'data');
    await admin.patch(`${webhooksPath}/${webhook?.id}`, { events: ['meters.create'] });
    const { id } = await stack.guest.create('meters', { value: 8 });
    await eventually('its event is delivered', () => receivedRecordIds(receiver).includes(id));
  });
});
