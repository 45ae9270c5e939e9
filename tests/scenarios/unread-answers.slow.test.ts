import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { sendUnread } from '../harness/clients/unread.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { onEachTopology, replicaCount, stackEnvironment, type Target } from '../harness/stacks/target.ts';

// Set at the start, so that the first request counts for the client that it names.
stackEnvironment.SERVICE_TRUSTED_PROXIES = '127.0.0.0/8, ::1';

const open = { list_rule: null, view_rule: null };
const silent = '10.3.0.1';
const other = { headers: { 'X-Forwarded-For': '10.3.9.9' } };

/** 30 MB, more than a connection's buffers hold. */
const largeList = '/api/v1/quotes?perPage=30&expand=tome&skipTotal=1';

const countOf = (statuses: readonly string[], status: string) => statuses.filter((one) => one === status).length;

/** Returns a gauge's highest value over all processes. */
async function highestValue(admin: Client, name: string, className?: string): Promise<number> {
  const { json } = await admin.get('/_/metrics');
  const family = listAt(json, 'data').find((one) => at(one, 'name') === name);
  const samples = listAt(family, 'samples').filter(
    (sample) => className === undefined || at(sample, 'labels.class') === className,
  );
  return Math.max(...samples.map((sample) => Number(at(sample, 'value'))));
}

const residentBytes = (admin: Client) => highestValue(admin, 'process_resident_memory_bytes');
const heldAnswers = (admin: Client) => highestValue(admin, 'recordbus_database_in_use', 'largeAnswers');

async function prepare(target: Target): Promise<{ admin: Client; tome: string }> {
  const admin = await target.admin();
  const text = { name: 'body', type: 'text' };
  await admin.post('/api/v1/collections', { name: 'tomes', type: 'base', fields: [text], ...open });
  const fields = [{ name: 'tome', type: 'relation', collection: 'tomes' }];
  await admin.post('/api/v1/collections', { name: 'quotes', type: 'base', fields, ...open });
  const { id: tome } = await admin.create('tomes', { body: 'x'.repeat(1_040_000) });
  for (let left = 30; left > 0; left -= 1) await admin.create('quotes', { tome });
  return { admin, tome: String(tome) };
}

onEachTopology('answers that a guest does not read take a bounded amount of memory [cost §2.3]', async (t, target) => {
  if (replicaCount > 1) return t.skip('these limits are of a process');
  const { admin, tome } = await prepare(target);
  const before = await residentBytes(admin);
  const unread = await Promise.all(Array.from({ length: 60 }, () => sendUnread(target.url, largeList, silent)));
  const answered = () =>
    countOf(
      unread.map(({ status }) => status),
      '200',
    );

  await t.test('the guest gets four answers at once', async () => {
    // On a busy machine some early requests are refused because the database is busy.
    await eventually('four answers have begun', async () => {
      if (answered() < 4) unread.push(await sendUnread(target.url, largeList, silent));
      return answered() >= 4;
    });
    assert.equal(answered(), 4);
    assert.ok(unread.some(({ status }) => status === '429'));
  });

  await t.test('the process holds only these answers', async () => {
    const grown = (await residentBytes(admin)) - before;
    assert.ok(grown < 600 * 2 ** 20, `${grown} bytes`);
  });

  await t.test('another client is served', async () => {
    for (const path of ['/api/v1/quotes?perPage=10', `/api/v1/tomes/${tome}`, largeList, '/readyz'])
      assert.equal((await target.guest.send('GET', path, other)).status, 200, path);
  });

  await t.test('small reads by id succeed for the guest, and closed sockets free its answers', async () => {
    const { id } = (await admin.create('quotes', {})) as { id: string };
    const same = { headers: { 'X-Forwarded-For': silent } };
    assert.equal((await target.guest.send('GET', `/api/v1/quotes/${id}`, same)).status, 200);
    const large = await target.guest.send('GET', `/api/v1/tomes/${tome}`, same);
    assert.equal(textAt(large.json, 'code'), 'rate_limited');
    for (const { socket } of unread) socket.destroy();
    await eventually(
      'the guest reads again',
      async () => (await target.guest.send('GET', largeList, same)).status === 200,
    );
  });

  await t.test('all clients together have a limit, and small reads succeed beyond it', async () => {
    const guests = Array.from({ length: 16 }, (_, n) => `10.4.0.${n + 1}`);
    // On a busy machine the database may take too long for all of them.
    const many = await eventually('some have begun, and some are refused', async () => {
      const sent = await Promise.all(guests.map((address) => sendUnread(target.url, largeList, address)));
      const all = sent.map(({ status }) => status);
      if (countOf(all, '200') >= 1 && countOf(all, '503') >= 1) return sent;
      for (const { socket } of sent) socket.destroy();
      throw new Error(String(all));
    });
    const held = await heldAnswers(admin);
    assert.ok(held <= 8, `${held} answers of 31 MB`);
    for (const path of ['/api/v1/quotes?perPage=10', '/readyz'])
      assert.equal((await target.guest.send('GET', path, other)).status, 200, path);
    for (const { socket } of many) socket.destroy();
    await eventually(
      'large reads succeed again',
      async () => (await target.guest.send('GET', largeList, other)).status === 200,
    );
  });
});
