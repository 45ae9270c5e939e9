import assert from 'node:assert/strict';
import pg from 'pg';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { adminPath, prepare } from './firms.ts';

const portalPath = `${adminPath}/portal`;
const path = '/api/v1/webhooks';

/** Makes a link and returns its token. */
async function linkFor(admin: Client, firm: string, members: object = {}): Promise<string> {
  const { path: link } = await admin.post(portalPath, { owner: { collection: 'firms', id: firm }, ...members });
  return String(link).replace('/_/portal#', '');
}

const open = (target: Target, token: string) => target.guest.send('POST', `${path}/portal`, { body: { token } });

onEachTopology('a portal link opens one owner, once [webhooks §10]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, firms, ann } = await prepare(target, receiver);
  const [north, south] = firms;
  const mine = `owner=firms/${north}`;
  const token = await linkFor(admin, north, { theme: { title: 'North Shop', accent: '#aa3300' } });
  const opened = await open(target, token);
  assert.equal(opened.status, 200, opened.text);
  assert.deepEqual(at(opened.json, 'data.theme'), { title: 'North Shop', accent: '#aa3300' });
  const headers = { 'X-Portal-Session': textAt(opened.json, 'data.session') };
  const status = async (client: Client, method: string, where: string, body?: object) =>
    (await client.send(method, where, { headers, ...(body && { body }) })).status;

  await t.test('it manages the webhooks of its owner', async () => {
    const body = { name: 'From the portal', url: receiver.url, events: ['orders.*'] };
    assert.equal(await status(target.guest, 'POST', `${path}?${mine}`, body), 201);
    const list = await target.guest.send('GET', `${path}?${mine}`, { headers });
    const [made] = listAt(list.json, 'data');
    assert.equal(at(made ?? {}, 'name'), 'From the portal');
    assert.equal(await status(target.guest, 'POST', `${path}/${at(made ?? {}, 'id')}/test?${mine}`), 200);
    await receiver.received(1);
  });

  await t.test('it opens nothing else, not even for admins', async () => {
    const other = await admin.post(adminPath, { name: 'Other', url: receiver.url, events: ['nothing.*'] });
    for (const [client, method, where, expected] of [
      [target.guest, 'GET', `${path}?owner=firms/${south}`, 401],
      [admin, 'GET', `${path}?owner=firms/${south}`, 401],
      [ann, 'GET', `${path}?owner=firms/${south}`, 401],
      [target.guest, 'GET', `${path}/${other.id}?${mine}`, 404],
      [target.guest, 'GET', adminPath, 401],
      [target.guest, 'GET', '/api/v1/orders', 403],
      [target.guest, 'GET', '/api/v1/admin/settings', 401],
    ] as const)
      assert.equal(await status(client, method, where), expected, `${method} ${where}`);
  });

  await t.test('a link works once, and a wrong or expired one never', async () => {
    assert.equal((await open(target, token)).status, 401);
    assert.equal((await open(target, 'wrong')).status, 401);
    const guessed = await target.guest.send('GET', `${path}?${mine}`, { headers: { 'X-Portal-Session': token } });
    assert.equal(guessed.status, 401, 'the token is not a session');
  });

  await t.test('only admins make links, and for records that may own webhooks', async () => {
    const owner = { collection: 'firms', id: north };
    const send = async (client: Client, body: object) => (await client.send('POST', portalPath, { body })).status;
    assert.equal(await send(target.guest, { owner }), 401);
    assert.equal(await send(ann, { owner }), 403);
    assert.equal(await send(admin, { owner: { collection: 'orders', id: north } }), 422);
    assert.equal(await send(admin, { owner: { collection: 'firms', id: 'nobody' } }), 404);
    for (const wrong of [
      { expires_s: 1 },
      { session_s: 90_000 },
      { theme: { accent: 'red' } },
      { theme: { css: 'x' } },
    ])
      assert.equal(await send(admin, { owner, ...wrong }), 422, JSON.stringify(wrong));
  });

  await t.test('it ends with its owner', async () => {
    const { id } = await admin.create('firms', { name: 'Short-lived' });
    const { json } = await open(target, await linkFor(admin, String(id)));
    const own = { 'X-Portal-Session': textAt(json, 'data.session') };
    const list = async () => (await target.guest.send('GET', `${path}?owner=firms/${id}`, { headers: own })).status;
    assert.equal(await list(), 200);
    await admin.delete(`/api/v1/firms/${id}`);
    assert.equal(await list(), 404);
  });

  await t.test('it reads its own catalogue', async () => {
    await admin.patch('/api/v1/collections/orders', { webhook_rule: 'firm = @owner.id' });
    const { json } = await target.guest.send('GET', `${path}/events?${mine}`, { headers });
    assert.deepEqual(
      listAt(json, 'data').map(({ name }) => name),
      ['orders.create', 'orders.update', 'orders.delete', 'orders.leave'],
    );
    assert.equal((await target.guest.send('GET', `${path}/events`)).status, 400);
  });

  await t.test('the page has its own policy, and the admin pages keep theirs', async () => {
    const policyOf = async (page: string) =>
      (await fetch(`${target.url}${page}`)).headers.get('content-security-policy') ?? '';
    assert.match(await policyOf('/_/portal'), /frame-ancestors 'none'/);
    await admin.patch('/api/v1/admin/settings', { 'webhooks.portal_frames': 'https://shop.example.com' });
    await eventually('the setting applies', async () =>
      (await policyOf('/_/portal')).includes('frame-ancestors https://shop.example.com'),
    );
    for (const page of ['/_/', '/_/webhooks', '/docs']) assert.match(await policyOf(page), /frame-ancestors 'none'/);
    await admin.patch('/api/v1/admin/settings', { 'webhooks.portal_frames': '' });
  });

  await t.test('an expired link and an expired session open nothing', async () => {
    if (target.databaseUrl === undefined) return;
    const late = await linkFor(admin, north);
    const { json } = await open(target, await linkFor(admin, north));
    const own = { 'X-Portal-Session': textAt(json, 'data.session') };
    const list = async () => (await target.guest.send('GET', `${path}?${mine}`, { headers: own })).status;
    assert.equal(await list(), 200);
    await runSql(
      target.databaseUrl,
      "update system.portal_links set expires_at = now() - interval '1 s', session_expires_at = session_expires_at - interval '2 days'",
    );
    assert.deepEqual([(await open(target, late)).status, await list()], [401, 401]);
  });
});

async function runSql(databaseUrl: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
