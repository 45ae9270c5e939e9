import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/clients/client.ts';
import { file } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, upload } from './file-forms.ts';

const password = 'a long and winding password';

onEachTopology('protected files need a token or a rule that admits the caller', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const { guest } = target;
  await admin.define('vault', [
    { name: 'open', type: 'bool' },
    fileField('secret', { protected: true }),
    fileField('members', { requireAuth: true }),
    fileField('ruled', { viewRule: 'open = true' }),
    { ...fileField('hidden'), view_rule: 'open = true' },
    fileField('once', { oneTimeToken: true, auditDownloads: true }),
    fileField('bound', { bindTokenIp: true }),
  ]);
  const fields = ['secret', 'members', 'ruled', 'hidden', 'once', 'bound'];
  const record = await upload(
    guest,
    '/api/v1/vault',
    { name: 'open', content: 'false' },
    ...fields.map((name) => file(name, `${name}.txt`, name)),
  );
  const urlOf = (field: string) => `/api/files/vault/${record.id}/${record[field]}`;
  const mint = async (client: Client, field: string) => {
    const body = { collection: 'vault', id: record.id, filename: record[field] };
    return textAt(await client.post('/api/v1/files/token', body, 200), 'token');
  };
  const status = async (client: Client, url: string, method = 'GET') => (await client.send(method, url)).status;

  await t.test('a protected file needs a token, an admin needs none [files §7.2, §7.3]', async () => {
    const url = urlOf('secret');
    assert.equal(await status(guest, url), 401);
    assert.equal(await status(user, `${url}?token=nonsense`), 401);
    assert.equal(await status(admin, url), 200);
    assert.equal(await status(guest, `${url}?token=${await mint(guest, 'secret')}`), 200);
    assert.equal(await status(guest, `${url}?token=${await mint(guest, 'once')}`), 401, 'the token of another file');
  });

  await t.test('a missing token is 401 before an expression is checked, but not before "" [files §7.7]', async () => {
    const token = await mint(guest, 'secret');
    await admin.patch('/api/v1/collections/vault', { view_rule: 'open = true' });
    await eventually(
      'the rule applies',
      async () => (await status(guest, `${urlOf('secret')}?token=${token}`)) === 403,
    );
    assert.equal(await status(guest, urlOf('secret')), 401);
    assert.equal(await status(user, `${urlOf('secret')}?token=nonsense`), 401);
    await admin.patch('/api/v1/collections/vault', { view_rule: '' });
    await eventually('the rule for admins applies', async () => (await status(guest, urlOf('secret'))) === 403);
    assert.equal(await status(guest, `${urlOf('secret')}?token=${token}`), 403);
    assert.equal(await status(guest, `${urlOf('secret')}x`), 403, 'nobody learns which files exist');
    await admin.patch('/api/v1/collections/vault', { view_rule: null });
    await eventually(
      'the rule no longer applies',
      async () => (await status(guest, `${urlOf('secret')}?token=${token}`)) === 200,
    );
  });

  await t.test('a token for all files opens those that its owner may view [files §6.2]', async () => {
    assert.equal((await guest.send('POST', '/api/v1/files/token')).status, 401);
    const partial = await user.send('POST', '/api/v1/files/token', { body: { collection: 'vault' } });
    assert.deepEqual([partial.status, Object.keys(objectAt(partial.json, 'details'))], [422, ['id', 'filename']]);
    const nowSec = Date.now() / 1000;
    const answer = await user.post('/api/v1/files/token', {}, 200);
    assert.ok(Math.abs(Number(at(answer, 'expires_at')) - nowSec - 180) < 30, 'valid for three minutes');
    const token = textAt(await user.send('POST', '/api/v1/files/token').then(({ json }) => json), 'data.token');
    const statusOf = (field: string) => status(guest, `${urlOf(field)}?token=${token}`);
    assert.deepEqual([await statusOf('secret'), await statusOf('members'), await statusOf('secret')], [200, 200, 200]);
    assert.deepEqual(
      [await statusOf('once'), await statusOf('bound')],
      [401, 401],
      'these files need a token of their own',
    );
    assert.equal(await statusOf('ruled'), 403);
    assert.doesNotMatch(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(), /@|127\.0|::1/);
  });

  await t.test('requireAuth refuses a guest [files §7.2]', async () => {
    assert.equal(await status(guest, urlOf('members')), 401);
    assert.equal(await status(user, urlOf('members')), 200);
  });

  await t.test("the field's rule is checked in addition to the collection's [files §7.1]", async () => {
    assert.equal(await status(guest, urlOf('ruled')), 403);
    await guest.patch(`/api/v1/vault/${record.id}`, { open: true });
    assert.equal(await status(guest, urlOf('ruled')), 200);
  });

  await t.test("no cache keeps a file whose field's rule admits the caller [files §4.3]", async () => {
    const { json } = await admin.get(`/api/v1/vault/${record.id}`);
    for (const field of ['ruled', 'hidden']) {
      const { status, headers } = await admin.get(`/api/files/vault/${record.id}/${textAt(json, `data.${field}`)}`);
      assert.deepEqual([status, headers['cache-control']], [200, 'private, no-cache'], field);
    }
  });

  await t.test(
    'a one-time token works for one of several parallel GETs; HEAD does not use it up [files §7.4]',
    async () => {
      const url = `${urlOf('once')}?token=${await mint(guest, 'once')}`;
      assert.equal(await status(guest, url, 'HEAD'), 200);
      const answers = await Promise.all(Array.from({ length: 8 }, () => status(guest, url)));
      assert.deepEqual(answers.sort(), [200, ...Array(7).fill(410)]);
      assert.equal(await status(guest, url, 'HEAD'), 410);
    },
  );

  await t.test('a bound token works only from its address [files §7.2]', async () => {
    assert.equal(await status(guest, `${urlOf('bound')}?token=${await mint(guest, 'bound')}`), 200);
    const url = `${urlOf('bound')}?token=${await mint(guest, 'bound')}`;
    const from = (address: string) => guest.send('GET', url, { headers: { 'X-Forwarded-For': address } });
    assert.equal((await from('203.0.113.9')).status, 200, 'no proxy is trusted yet');
    await admin.patch('/api/v1/admin/settings', { 'security.trusted_proxies': '127.0.0.0/8,::1' });
    const elsewhere = await eventually('the proxy is trusted', async () => {
      const answer = await from('203.0.113.9');
      return answer.status === 403 && answer;
    });
    assert.equal(textAt(elsewhere.json, 'code'), 'token_address_mismatch');
    assert.equal(await status(guest, url), 200);
    await admin.patch('/api/v1/admin/settings', { 'security.trusted_proxies': '' });
  });

  await t.test("a token ends with its owner's password [files §6.3]", async () => {
    await admin.post('/api/v1/collections', { name: 'keepers', type: 'auth', fields: [] });
    const register = { email: 'kim@example.com', password };
    const session = await guest.post('/api/v1/auth/keepers/register', register);
    const kim = createClient(target.url, textAt(session, 'token'));
    const impersonated = await admin.post(
      `/api/v1/admin/impersonate/keepers/${textAt(session, 'record.id')}`,
      undefined,
      200,
    );
    const urls = [kim, createClient(target.url, textAt(impersonated, 'token'))].map(
      async (client) => `${urlOf('secret')}?token=${await mint(client, 'secret')}`,
    );
    const [own = '', impersonating = ''] = await Promise.all(urls);
    assert.deepEqual([await status(guest, own), await status(guest, impersonating)], [200, 200]);
    await kim.delete('/api/v1/auth/keepers/sessions');
    assert.deepEqual(
      [await status(guest, own), await status(guest, impersonating)],
      [200, 401],
      "the admin's impersonation has ended",
    );
    const change = { old_password: password, password: `${password} two` };
    await kim.post('/api/v1/auth/keepers/change-password', change, 200);
    assert.equal(await status(guest, own), 401);
  });

  await t.test('a token for all files ends with its session [files §6.2]', async () => {
    const session = await guest.post('/api/v1/auth/keepers/register', { email: 'lee@example.com', password });
    const lee = createClient(target.url, textAt(session, 'token'));
    const url = `${urlOf('secret')}?token=${textAt(await lee.post('/api/v1/files/token', {}, 200), 'token')}`;
    assert.equal(await status(guest, url), 200);
    assert.equal((await lee.send('POST', '/api/v1/auth/keepers/logout')).status, 200);
    assert.equal(await status(guest, url), 401);
  });

  await t.test('a caller gets tokens only for existing files that they may view [files §6.1]', async () => {
    const body = { collection: 'vault', id: record.id, filename: 'a_0123456789.txt' };
    assert.equal((await guest.send('POST', '/api/v1/files/token', { body })).status, 404);
    await admin.patch('/api/v1/collections/vault', { view_rule: '' });
    const hidden = { ...body, filename: record.secret };
    await eventually('the rule applies', async () => {
      return (await guest.send('POST', '/api/v1/files/token', { body: hidden })).status === 403;
    });
    assert.equal(await status(guest, `${urlOf('secret')}?token=${await mint(admin, 'secret')}`), 200);
  });

  await t.test('a download is audited where its field has auditDownloads [files §7.5]', async () => {
    // Other files' downloads are audited too.
    const rows = async () =>
      listAt((await admin.get('/api/v1/admin/audit?action=files.download&perPage=1000')).json, 'data').filter((row) =>
        String(row.target_id).startsWith(`vault/${record.id}/`),
      );
    const before = await rows();
    const target_id = `vault/${record.id}/${record.once}`;
    const url = urlOf('once');
    assert.ok(before.length > 0 && before.every((row) => row.target_id === target_id && row.target_type === 'file'));
    // A range beyond the end, an unknown file and HEAD do not count as downloads.
    assert.equal((await admin.send('GET', url, { headers: { Range: 'bytes=99-' } })).status, 416);
    assert.equal(await status(admin, `${url}x`), 404);
    assert.equal(await status(admin, url, 'HEAD'), 200);
    assert.equal((await rows()).length, before.length);
    assert.equal(await status(admin, url), 200);
    const me = textAt((await admin.get('/api/v1/admin/me')).json, 'data.id');
    const [newest] = await rows();
    assert.deepEqual(
      [newest?.actor_type, newest?.actor_id, newest?.target_id, newest?.details],
      ['admin', me, target_id, { field: 'once' }],
    );
  });

  await t.test('a definition with an invalid viewRule is refused [rules §6.1]', async () => {
    const body = { name: 'bad', type: 'base', fields: [fileField('f', { viewRule: 'nothing = 1' })] };
    const answer = await admin.send('POST', '/api/v1/collections', { body });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /fields\.f\.options\.viewRule/);
  });
});
