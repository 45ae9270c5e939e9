import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { sendUnread } from '../harness/clients/unread.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology, replicaCount, stackEnvironment, type Target } from '../harness/stacks/target.ts';

// Set at the start, so that the first request counts for the client that it names.
stackEnvironment.SERVICE_TRUSTED_PROXIES = '127.0.0.0/8, ::1';

const path = '/api/v1/records/quotes/export?expand=tome&sort=id';
const quoteCount = 100;
const silent = '10.5.0.1';
const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
const others = ['10.5.0.2', '10.5.0.3'];
const credentials = { email: 'reader@example.com', password: 'a password of a reader' };

/**
 * Creates records whose export has 100 MB. Each hop between two processes may hold 20 MB of an export that no one
 * reads, and more if the machine is busy. An export that fits into these buffers ends, and then another one may start.
 */
async function createQuotes(target: Target): Promise<void> {
  const admin = await target.admin();
  const note = { name: 'note', type: 'text' };
  const tome = { name: 'tome', type: 'relation', collection: 'tomes' };
  const open = { list_rule: null, view_rule: null };
  await admin.post('/api/v1/collections', { name: 'tomes', type: 'base', fields: [note], ...open });
  await admin.post('/api/v1/collections', { name: 'quotes', type: 'base', fields: [note, tome], ...open });
  const { id } = await admin.create('tomes', { note: 'x'.repeat(1_000_000) });
  for (let left = quoteCount; left > 0; left -= 1) await admin.create('quotes', { note: 'first', tome: id });
  await admin.post('/api/v1/collections', { name: 'readers', type: 'auth', fields: [], create_rule: null });
  await target.guest.post('/api/v1/auth/readers/register', credentials);
}

/** Returns the export transactions in the database. */
const exportsIn = (target: Target) =>
  inDatabase(
    target,
    `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and state <> 'idle' and query ~ 'fetch_within|declare reading'`,
    [],
  );

const noneIn = (target: Target) =>
  eventually('every connection is free', async () => (await exportsIn(target)).length === 0);

/** Begins an export and reads nothing from its body. */
async function begin(target: Target, format = 'csv'): Promise<IncomingMessage> {
  const [answer] = await once(get(`${target.url}${path}&format=${format}`, { agent: false }), 'response');
  return answer;
}

onEachTopology('exports that are not read', async (t, target) => {
  if (target.databaseUrl === undefined) return t.skip('this stack runs elsewhere');
  await createQuotes(target);
  const admin = await target.admin();

  // Every records replica gets more than the client may have on it: each gateway sends one to each.
  const atOnce = Array.from({ length: replicaCount ** 2 + 2 });
  const unread = await Promise.all(atOnce.map(() => sendUnread(target.url, path, silent)));
  const statuses = unread.map(({ status }) => status);

  await t.test('a client may have one or two exports at once [export §4.1]', async () => {
    assert.ok(statuses.includes('200') && statuses.includes('429'), String(statuses));
    const answer = await target.guest.send('GET', path, from(silent));
    assert.equal(answer.status, 429, answer.text.slice(0, 200));
    assert.equal(textAt(answer.json, 'code'), 'rate_limited');
    assert.equal(answer.headers['retry-after'], '5');
  });

  await t.test('another client may have one meanwhile, and all other work continues [export §4.5]', async () => {
    const rest = await Promise.all(others.map((address) => sendUnread(target.url, path, address)));
    unread.push(...rest);
    assert.equal(rest[0]?.status ?? '', '200');
    for (const [name, answer] of Object.entries({
      list: target.guest.send('GET', '/api/v1/quotes?fields=id&sort=note', from(silent)),
      get: target.guest.send('GET', '/api/v1/quotes/none', from(silent)),
      'sign-in': target.guest.send('POST', '/api/v1/auth/readers/login', { ...from(silent), body: credentials }),
      write: admin.send('POST', '/api/v1/quotes', { body: {} }),
      readyz: target.guest.get('/readyz'),
    })) {
      const { status, text } = await answer;
      assert.ok(status < 429, `${name}: ${text}`);
    }
  });

  await t.test('clients that disconnect release their database connections [export §5.3]', async () => {
    for (const { socket } of unread) socket.destroy();
    await noneIn(target);
    assert.equal((await target.guest.send('GET', `${path}&fields=id`, from(silent))).status, 200);
  });
});

onEachTopology('exports that a crowd holds', async (t, target) => {
  if (target.databaseUrl === undefined) return t.skip('this stack runs elsewhere');
  const admin = await target.admin();
  const signedIn = await target.guest.send('POST', '/api/v1/auth/readers/login', { body: credentials });
  const reader = { headers: { Authorization: `Bearer ${textAt(signedIn.json, 'data.token')}` } };
  const crowd = Array.from({ length: 38 }, (_, n) => `10.6.0.${n + 1}`);
  const small = `${path}&filter=${encodeURIComponent('note = "nothing"')}`;
  const held = crowd.map((address) => sendUnread(target.url, path, address));
  await eventually('guests have all of their places', async () => (await exportsIn(target)).length > 1);

  await t.test('admins and users find a place at once [cost §3.2]', async () => {
    assert.equal((await admin.send('GET', small)).status, 200);
    assert.equal((await target.guest.send('GET', small, reader)).status, 200);
  });

  await t.test('slow readers are cut while others wait [export §4.3]', async () => {
    await eventually('a guest finds a place', async () => (await target.guest.send('GET', small)).status === 200);
  });
  for (const { socket } of await Promise.all(held)) socket.destroy();
  await noneIn(target);
});

onEachTopology('exports that fail in the middle', async (t, target) => {
  if (target.databaseUrl === undefined) return t.skip('this stack runs elsewhere');
  const admin = await target.admin();

  for (const format of ['csv', 'ndjson', 'json']) {
    await t.test(`${format} breaks off when its database connection is lost [export §5.2]`, async () => {
      const answer = await begin(target, format);
      assert.equal(answer.statusCode, 200);
      const [running] = await exportsIn(target);
      assert.ok(running, 'the export runs');
      await inDatabase(target, 'select pg_terminate_backend($1)', [running.pid]);
      await assert.rejects(answer.toArray(), /aborted/);
      await noneIn(target);
    });
  }

  await t.test('the time limit ends an export that is not read [export §4.2]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'records.export_timeout_ms': '1000' });
    const begun: IncomingMessage[] = [];
    await eventually('an export has ended', async () => {
      const answer = await begin(target);
      if (answer.statusCode === 200) begun.push(answer);
      return (await exportsIn(target)).length < begun.length;
    });
    await assert.rejects(begun.shift()?.toArray() ?? Promise.resolve(), /aborted/);
    for (const answer of begun) answer.on('error', () => {}).destroy();
    await admin.patch('/api/v1/admin/settings', { 'records.export_timeout_ms': '' });
    await noneIn(target);
  });

  await t.test('a complete export follows [export §5.2]', async () => {
    const { status, text } = await target.guest.get(path);
    assert.equal(status, 200);
    assert.equal(text.match(/\r\n/g)?.length, 1 + quoteCount + 1);
  });

  await t.test('writes during an export change nothing in it [export §1.4]', async () => {
    const answer = await begin(target, 'ndjson');
    // The export reads these two last.
    const [, last, previous] = listAt((await target.guest.get('/api/v1/quotes?perPage=3&sort=-id')).json, 'data');
    await admin.delete(`/api/v1/quotes/${textAt(last, 'id')}`);
    await admin.patch(`/api/v1/quotes/${textAt(previous, 'id')}`, { note: 'changed' });
    await admin.create('quotes', { note: 'late' });
    const lines = Buffer.concat(await answer.toArray())
      .toString()
      .trimEnd()
      .split('\n');
    const notes = lines.map((line) => String(at(JSON.parse(line), 'note')));
    assert.equal(notes.filter((note) => note === 'first').length, quoteCount);
    assert.ok(!notes.includes('changed') && !notes.includes('late'), 'a later write is in the export');
    assert.ok((await target.guest.get('/api/v1/records/quotes/export')).text.includes('changed'));
  });
});
