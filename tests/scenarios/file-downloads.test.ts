import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { file } from '../harness/multipart.ts';
import { runScenarios } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';
import { define, fileField, png, upload } from './file-forms.ts';

onEachTopology('downloads', async (t, target) => {
  const admin = await target.admin();
  await define(admin, 'docs', [fileField('doc', { thumbs: ['2x2'] })]);
  const make = async (filename: string, content: string | Uint8Array) => {
    const record = await upload(target.guest, '/api/v1/docs', file('doc', filename, content));
    return `/docs/${record.id}/${record.doc}`;
  };
  const plain = await make('a.txt', '0123456789');
  const page = await make('a.txt', '<!doctype html><script>alert(1)</script>');
  const picture = await make('a.svg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>');
  const image = await make('a.png', png);
  const broken = await make('a.png', png.subarray(0, 40));
  const etag = (await target.guest.get(`/api/files${plain}`)).headers.etag ?? '';
  const get = (path: string, rest: object) => ({ spec: 'files §4', request: `GET ${path}`, ...rest });
  const bytes = (length: number) => ({ 'content-length': String(length) });
  await runScenarios(t, target, [
    {
      name: 'the whole file',
      ...get(`/api/files${plain}`, {}),
      expect: {
        status: 200,
        headers: {
          ...bytes(10),
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          'accept-ranges': 'bytes',
          'content-disposition': is.matching(/^inline; filename="a_/),
          'cache-control': is.matching(/^public/),
          etag,
        },
      },
    },
    { name: 'the other path', ...get(`/api/v1/files${plain}`, {}), expect: { status: 200, headers: bytes(10) } },
    {
      name: 'HEAD',
      spec: 'http §1.3',
      request: `HEAD /api/files${plain}`,
      expect: { status: 200, headers: { ...bytes(10), etag } },
    },
    ...(
      [
        ['bytes=2-4', 206, 'bytes 2-4/10', 3],
        ['bytes=-3', 206, 'bytes 7-9/10', 3],
        ['bytes=8-', 206, 'bytes 8-9/10', 2],
        ['bytes=10-', 416, 'bytes */10', undefined],
        ['lines=1-2', 200, null, 10],
        // Several ranges get the whole file. A number may have any length.
        [`bytes=${Array(3000).fill('0-9').join(',')}`, 200, null, 10],
        [`bytes=0-${'9'.repeat(20_000)}`, 206, 'bytes 0-9/10', 10],
        [`bytes=${'9'.repeat(20_000)}-`, 416, 'bytes */10', undefined],
        ['bytes=-0', 416, 'bytes */10', undefined],
      ] as const
    ).map(([range, status, contentRange, length]) => ({
      name: range.slice(0, 40),
      ...get(`/api/files${plain}`, { headers: { Range: range } }),
      expect: {
        status,
        headers: { 'content-range': contentRange, ...(length !== undefined && bytes(length)) },
      },
    })),
    {
      name: 'a range of this version',
      ...get(`/api/files${plain}`, { headers: { Range: 'bytes=0-0', 'If-Range': etag } }),
      expect: { status: 206 },
    },
    {
      name: 'a range of another version',
      ...get(`/api/files${plain}`, { headers: { Range: 'bytes=0-0', 'If-Range': '"other"' } }),
      expect: { status: 200 },
    },
    {
      name: 'the version that the client has',
      ...get(`/api/files${plain}`, { headers: { 'If-None-Match': etag } }),
      expect: { status: 304, headers: { etag } },
    },
    {
      name: 'an attachment by download=1',
      ...get(`/api/files${plain}?download=1`, {}),
      expect: { status: 200, headers: { 'content-disposition': is.matching(/^attachment/) } },
    },
    ...['0', 'false', ''].map((value) => ({
      name: `inline with download=${value}`,
      ...get(`/api/files${plain}?download=${value}`, {}),
      expect: { status: 200, headers: { 'content-disposition': is.matching(/^inline/) } },
    })),
    {
      name: 'an invalid download',
      ...get(`/api/files${plain}?download=yes`, {}),
      expect: { status: 400, json: { error: is.text, code: 'malformed_request', details: { download: is.text } } },
    },
    ...[[page, 'text/html; charset=utf-8'] as const, [picture, 'image/svg+xml'] as const].map(([path, type]) => ({
      name: `${type} is an attachment`,
      ...get(`/api/files${path}`, {}),
      expect: {
        status: 200,
        headers: { 'content-type': type, 'content-disposition': is.matching(/^attachment/) },
      },
    })),
    {
      name: 'a preview',
      ...get(`/api/files${image}?thumb=2x2`, {}),
      expect: { status: 200, headers: { 'content-type': 'image/png' } },
    },
    { name: 'an invalid size', ...get(`/api/files${image}?thumb=big`, {}), expect: { status: 400 } },
    {
      name: 'a size of megabytes',
      ...get(`/api/files${image}?thumb=${'1'.repeat(50_000)}x1`, {}),
      expect: { status: 400 },
    },
    { name: 'the size that every image has', ...get(`/api/files${image}?thumb=100x100`, {}), expect: { status: 200 } },
    ...['3x3', '2x2f', '02x2', '100x100t', '0x100'].map((size) => ({
      name: `the size ${size} that the field does not list [files §5.1]`,
      ...get(`/api/files${image}?thumb=${size}`, {}),
      expect: {
        status: 400,
        json: { error: 'thumb: must be 100x100 or 2x2', code: 'malformed_request', details: { thumb: is.text } },
      },
    })),
    {
      name: 'a size of an unknown file',
      ...get(`/api/files${image}x?thumb=3x3`, {}),
      expect: { status: 404 },
    },
    {
      name: 'a preview of a file that is not an image is the file',
      ...get(`/api/files${plain}?thumb=2x2`, {}),
      expect: { status: 200, headers: bytes(10) },
    },
    {
      name: 'a preview of a broken image is the file',
      ...get(`/api/files${broken}?thumb=2x2`, {}),
      expect: { status: 200, headers: bytes(40) },
    },
    ...[
      `/api/files${plain}x`,
      '/api/files/docs/unknown/a_0123456789.txt',
      '/api/files/nothing/x/y',
      `/api/files/docs/..%2f..%2f..%2fetc/passwd`,
      `/api/files${plain.replace(/[^/]+$/, '..%2F..%2Fjwt_secret')}`,
      `/api/files${image}.thumb-2x2`,
    ].map((path) => ({ name: path, ...get(path, {}), expect: { status: 404 } })),
  ]);
});

onEachTopology('access to files', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const { guest } = target;
  await define(admin, 'vault', [
    { name: 'open', type: 'bool' },
    fileField('secret', { protected: true }),
    fileField('members', { requireAuth: true }),
    fileField('ruled', { viewRule: 'open = true' }),
    fileField('once', { oneTimeToken: true, auditDownloads: true }),
    fileField('bound', { bindTokenIp: true }),
  ]);
  const fields = ['secret', 'members', 'ruled', 'once', 'bound'];
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

  await t.test(
    'a missing token is 401 whatever the rules say; with a token the rules are checked [files §7.6]',
    async () => {
      const token = await mint(guest, 'secret');
      await admin.patch('/api/v1/collections/vault', { view_rule: 'open = true' });
      await eventually(
        'the rule counts',
        async () => (await status(guest, `${urlOf('secret')}?token=${token}`)) === 403,
      );
      assert.equal(await status(guest, urlOf('secret')), 401);
      assert.equal(await status(user, `${urlOf('secret')}?token=nonsense`), 401);
      await admin.patch('/api/v1/collections/vault', { view_rule: null });
      await eventually(
        'the rule no longer counts',
        async () => (await status(guest, `${urlOf('secret')}?token=${token}`)) === 200,
      );
    },
  );

  await t.test(
    'one token opens every file that its owner may see, and ends with the session [files §6.2]',
    async () => {
      assert.equal((await guest.send('POST', '/api/v1/files/token')).status, 401);
      const half = await user.send('POST', '/api/v1/files/token', { body: { collection: 'vault' } });
      assert.deepEqual([half.status, Object.keys(objectAt(half.json, 'details'))], [422, ['id', 'filename']]);
      const nowSec = Date.now() / 1000;
      const answer = await user.post('/api/v1/files/token', {}, 200);
      assert.ok(Math.abs(Number(at(answer, 'expires_at')) - nowSec - 180) < 30, 'good for three minutes');
      const token = textAt(await user.send('POST', '/api/v1/files/token').then(({ json }) => json), 'data.token');
      const with_ = (field: string) => status(guest, `${urlOf(field)}?token=${token}`);
      assert.deepEqual([await with_('secret'), await with_('members'), await with_('secret')], [200, 200, 200]);
      assert.deepEqual(
        [await with_('once'), await with_('bound')],
        [401, 401],
        'these files want a token of their own',
      );
      assert.equal(await with_('ruled'), 403);
      assert.doesNotMatch(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(), /@|127\.0|::1/);
    },
  );

  await t.test('requireAuth refuses a guest [files §7.2]', async () => {
    assert.equal(await status(guest, urlOf('members')), 401);
    assert.equal(await status(user, urlOf('members')), 200);
  });

  await t.test('the rule of the field is checked beside that of the collection [files §7.1]', async () => {
    assert.equal(await status(guest, urlOf('ruled')), 403);
    await guest.patch(`/api/v1/vault/${record.id}`, { open: true });
    assert.equal(await status(guest, urlOf('ruled')), 200);
  });

  await t.test('a one-time token works for one of parallel GETs; HEAD does not use it up [files §7.4]', async () => {
    const url = `${urlOf('once')}?token=${await mint(guest, 'once')}`;
    assert.equal(await status(guest, url, 'HEAD'), 200);
    const answers = await Promise.all(Array.from({ length: 8 }, () => status(guest, url)));
    assert.deepEqual(answers.sort(), [200, ...Array(7).fill(410)]);
    assert.equal(await status(guest, url, 'HEAD'), 410);
  });

  await t.test('a bound token works from its address [files §7.2]', async () => {
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

  await t.test('a token ends with the password of its owner [files §6.3]', async () => {
    const password = 'a long and winding password';
    await admin.post('/api/v1/collections', { name: 'keepers', type: 'auth', fields: [] });
    const register = { email: 'kim@example.com', password };
    const session = await guest.post('/api/v1/auth/keepers/register', register);
    const kim = createClient(target.url, textAt(session, 'token'));
    const acting = await admin.post(
      `/api/v1/admin/impersonate/keepers/${textAt(session, 'record.id')}`,
      undefined,
      200,
    );
    const urls = [kim, createClient(target.url, textAt(acting, 'token'))].map(
      async (client) => `${urlOf('secret')}?token=${await mint(client, 'secret')}`,
    );
    const [own = '', acted = ''] = await Promise.all(urls);
    assert.deepEqual([await status(guest, own), await status(guest, acted)], [200, 200]);
    await kim.delete('/api/v1/auth/keepers/sessions');
    assert.deepEqual(
      [await status(guest, own), await status(guest, acted)],
      [200, 401],
      'the session of the acting admin has ended',
    );
    const change = { old_password: password, password: `${password} two` };
    await kim.post('/api/v1/auth/keepers/change-password', change, 200);
    assert.equal(await status(guest, own), 401);
  });

  await t.test('a token for every file ends with its session [files §6.2]', async () => {
    const password = 'a long and winding password';
    const session = await guest.post('/api/v1/auth/keepers/register', { email: 'lee@example.com', password });
    const lee = createClient(target.url, textAt(session, 'token'));
    const url = `${urlOf('secret')}?token=${textAt(await lee.post('/api/v1/files/token', {}, 200), 'token')}`;
    assert.equal(await status(guest, url), 200);
    assert.equal((await lee.send('POST', '/api/v1/auth/keepers/logout')).status, 200);
    assert.equal(await status(guest, url), 401);
  });

  await t.test('tokens are for callers who may view the file, and for files that exist [files §6.1]', async () => {
    const body = { collection: 'vault', id: record.id, filename: 'a_0123456789.txt' };
    assert.equal((await guest.send('POST', '/api/v1/files/token', { body })).status, 404);
    await admin.patch('/api/v1/collections/vault', { view_rule: '' });
    const hidden = { ...body, filename: record.secret };
    await eventually('the rule counts', async () => {
      return (await guest.send('POST', '/api/v1/files/token', { body: hidden })).status === 403;
    });
    assert.equal(await status(guest, `${urlOf('secret')}?token=${await mint(admin, 'secret')}`), 200);
  });

  await t.test('a download is audited where its field has auditDownloads [files §7.5]', async () => {
    const rows = async () =>
      listAt((await admin.get('/api/v1/admin/audit?action=files.download&perPage=1000')).json, 'data');
    const before = await rows();
    const target_id = `vault/${record.id}/${record.once}`;
    const url = urlOf('once');
    assert.ok(before.length > 0 && before.every((row) => row.target_id === target_id && row.target_type === 'file'));
    // A range beyond the end, an unknown file and HEAD are no downloads.
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

  await t.test('a viewRule that cannot be read is refused with the definition [rules §6.1]', async () => {
    const body = { name: 'bad', type: 'base', fields: [fileField('f', { viewRule: 'nothing = 1' })] };
    const answer = await admin.send('POST', '/api/v1/collections', { body });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /fields\.f\.options\.viewRule/);
  });
});

onEachTopology('many downloads', async (_, target) => {
  const admin = await target.admin();
  await define(admin, 'tapes', [fileField('tape', { protected: true }), fileField('open')]);
  const content = 'x'.repeat(300_000);
  const record = await upload(
    target.guest,
    '/api/v1/tapes',
    file('tape', 'a.txt', content),
    file('open', 'b.txt', content),
  );
  const session = await target.user();
  const token = textAt(await session.post('/api/v1/files/token', {}, 200), 'token');
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        target.guest.get(`/api/files/tapes/${record.id}/${index % 2 ? record.open : `${record.tape}?token=${token}`}`),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text.length}`)), new Set(['200 300000']));
  }
  const warnings = target.logLines.filter((line) => /Warning/.test(line));
  assert.deepEqual(warnings, [], 'the process prints nothing but its log');
});
