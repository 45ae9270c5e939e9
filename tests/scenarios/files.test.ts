import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { file, multipart, type Part } from '../harness/multipart.ts';
import { runScenarios } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

/** A PNG of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const fileField = (name: string, options: object = {}) => ({ name, type: 'file', options });
const define = (admin: Client, name: string, fields: readonly object[], rest: object = {}) =>
  admin.post('/api/v1/collections', { name, type: 'base', fields, ...rest });

async function upload(client: Client, path: string, ...parts: readonly Part[]): Promise<JsonObject> {
  const method = path.split('/').length > 4 ? 'PATCH' : 'POST';
  const answer = await client.send(method, path, multipart(...parts));
  assert.ok(answer.status === 200 || answer.status === 201, `${method} ${path}: ${answer.status} ${answer.text}`);
  return objectAt(answer.json, 'data');
}

const namesOf = (record: JsonObject, field: string): string[] => {
  const value = record[field];
  assert.ok(Array.isArray(value), `${field} is ${JSON.stringify(value)}`);
  return value.map(String);
};

onEachTopology('files come with forms', async (t, target) => {
  const admin = await target.admin();
  await define(admin, 'papers', [
    { name: 'title', type: 'text' },
    { name: 'pages', type: 'number' },
    { name: 'ok', type: 'bool' },
    { name: 'meta', type: 'json' },
    { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
    fileField('cover', { mimeTypes: ['image/*'], maxSize: 1000 }),
    fileField('scans', { multiple: true }),
  ]);
  await runScenarios(t, target, [
    {
      name: 'parts are typed by their field, files keep a slug of their name',
      spec: 'contract §3',
      request: 'POST /api/v1/papers',
      ...multipart(
        { name: 'title', content: 'One' },
        { name: 'pages', content: '3' },
        { name: 'ok', content: 'true' },
        { name: 'meta', content: '{"a":[1]}' },
        { name: 'tags', content: 'a' },
        { name: 'tags', content: 'b' },
        file('cover', 'My Phöto.PNG', png),
        file('scans', '../../etc/passwd', 'one'),
        file('scans', 'b.txt', 'two'),
      ),
      expect: {
        status: 201,
        json: {
          data: {
            id: is.uuidV7,
            title: 'One',
            pages: 3,
            ok: true,
            meta: { a: [1] },
            tags: ['a', 'b'],
            cover: is.matching(/^my_photo_[a-z0-9]{10}\.png$/),
            scans: [is.matching(/^passwd_[a-z0-9]{10}$/), is.matching(/^b_[a-z0-9]{10}\.txt$/)],
            created: is.now,
            updated: is.now,
          },
        },
      },
      events: ['papers.create'],
    },
    {
      name: 'the rest may come as JSON',
      spec: 'contract §3',
      request: 'POST /api/papers',
      ...multipart({ name: '_json', content: '{"title":"Two","pages":4}' }, file('scans', 'a.txt', 'x')),
      expect: { status: 201, json: { data: is.containing({ title: 'Two', pages: 4, cover: null }) } },
      events: ['papers.create'],
    },
    {
      name: 'where there may be several files, none are an empty list',
      spec: 'contract §3',
      request: 'POST /api/papers',
      body: { title: 'None' },
      expect: { status: 201, json: { data: is.containing({ title: 'None', cover: null, scans: [] }) } },
      events: ['papers.create'],
    },
    {
      name: 'a form without files is a body like any other',
      spec: 'contract §3',
      request: 'POST /api/v1/records/papers',
      ...multipart({ name: 'title', content: 'Three' }, { name: 'scans', content: '[]' }),
      expect: { status: 201, json: { data: is.containing({ title: 'Three', scans: [] }) } },
      events: ['papers.create'],
    },
    ...(
      [
        ['the type is sniffed, not believed', [file('cover', 'a.png', 'no image', 'image/png')], 'cover'],
        [
          'no file is larger than its field takes',
          [file('cover', 'a.png', Buffer.concat([png, Buffer.alloc(1000)]))],
          'cover',
        ],
        ['a single field takes one file', [file('cover', 'a.png', png), file('cover', 'b.png', png)], 'cover'],
        ['a file for a field of another type', [file('title', 'a.txt', 'x')], 'title'],
        ['a file for no field', [file('nothing', 'a.txt', 'x')], 'nothing'],
        ['a number that is none', [{ name: 'pages', content: 'many' }], 'pages'],
        ['a new record has no file that it could keep', [{ name: 'cover', content: 'a_0123456789.png' }], 'cover'],
      ] as const
    ).map(([name, parts, field]) => ({
      name,
      spec: 'contract §3, interface §2.2',
      request: 'POST /api/v1/papers',
      ...multipart(...parts),
      expect: {
        status: 422,
        json: { error: 'validation failed', code: 'validation_failed', details: { [field]: is.text } },
      },
    })),
    {
      name: 'a body that is no form',
      spec: 'contract §1',
      request: 'POST /api/v1/papers',
      rawBody: 'x',
      headers: { 'Content-Type': 'multipart/form-data; boundary=y' },
      expect: { status: 400 },
    },
    {
      name: 'another content type',
      spec: 'contract §1',
      request: 'POST /api/v1/papers',
      rawBody: 'x',
      headers: { 'Content-Type': 'text/plain' },
      expect: { status: 415 },
    },
    {
      name: 'a route that takes no form',
      spec: 'contract §1',
      as: 'admin',
      request: 'POST /api/v1/collections',
      ...multipart({ name: 'name', content: 'x' }),
      expect: { status: 415 },
    },
    {
      name: 'a form beyond the limit',
      spec: 'contract §1',
      request: 'POST /api/v1/papers',
      rawBody: '',
      headers: { 'Content-Type': 'multipart/form-data; boundary=y', 'Content-Length': String(101 * 1024 * 1024) },
      expect: { status: 413 },
    },
    {
      name: 'a form for a record that is not there',
      spec: 'contract §2',
      request: 'PATCH /api/v1/papers/0190a5a2-0000-7000-8000-000000000000',
      ...multipart(file('cover', 'a.txt', 'x')),
      expect: { status: 404 },
    },
  ]);
});

onEachTopology('files are added, kept, replaced and cleared', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await define(admin, 'albums', [fileField('cover'), fileField('scans', { multiple: true })]);
  const record = await upload(guest, '/api/v1/albums', file('cover', 'c.txt', 'C'), file('scans', 'a.txt', 'A'));
  const path = `/api/v1/albums/${record.id}`;
  const bytes = async (name: string) => guest.get(`/api/files/albums/${record.id}/${name}`);

  await t.test('a PATCH adds to several, and replaces a single one, whose bytes go [contract §3]', async () => {
    const changed = await upload(guest, path, file('cover', 'd.txt', 'D'), file('scans', 'b.txt', 'B'));
    assert.equal(namesOf(changed, 'scans').length, 2);
    assert.equal(namesOf(changed, 'scans')[0], namesOf(record, 'scans')[0]);
    assert.equal((await bytes(textAt(changed, 'cover'))).text, 'D');
    await eventually('the bytes are gone', async () => (await bytes(textAt(record, 'cover'))).status === 404);
  });

  await t.test('of PATCHes at once none loses a file [contract §3]', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}.txt`);
    await Promise.all(names.map((name) => upload(guest, path, file('scans', name, name))));
    const now = namesOf(objectAt((await guest.get(path)).json, 'data'), 'scans');
    assert.equal(now.length, 10);
    for (const name of now) assert.equal((await bytes(name)).status, 200, name);
  });

  await t.test('a list of names says which to keep, new ones come behind [contract §3]', async () => {
    const before = namesOf(objectAt((await guest.get(path)).json, 'data'), 'scans');
    const [first = '', second = '', third = ''] = before;
    const changed = await upload(
      guest,
      path,
      { name: 'scans', content: JSON.stringify([second, first]) },
      file('scans', 'new.txt', 'N'),
    );
    assert.deepEqual(namesOf(changed, 'scans').slice(0, 2), [second, first]);
    assert.match(namesOf(changed, 'scans')[2] ?? '', /^new_/);
    await eventually('the others are gone', async () => (await bytes(third)).status === 404);
    const unknown = await guest.send('PATCH', path, { body: { scans: [first, 'a_0123456789.txt'] } });
    assert.equal(unknown.status, 422, unknown.text);
  });

  await t.test('null clears, and a record that was read can be sent back [contract §2, §3]', async () => {
    const read = objectAt((await guest.get(path)).json, 'data');
    assert.deepEqual((await guest.patch(path, read)).scans, read.scans);
    const cleared = await guest.patch(path, { cover: null, scans: null });
    assert.equal(cleared.cover, null);
    assert.deepEqual(cleared.scans, []);
    await eventually('the bytes are gone', async () => (await bytes(textAt(read, 'cover'))).status === 404);
  });
});

onEachTopology('downloads', async (t, target) => {
  const admin = await target.admin();
  await define(admin, 'docs', [fileField('doc')]);
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
  const get = (path: string, rest: object) => ({ spec: 'contract §3', request: `GET ${path}`, ...rest });
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
      spec: 'contract §8',
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
      ] as const
    ).map(([range, status, contentRange, length]) => ({
      name: range,
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
      name: 'known already',
      ...get(`/api/files${plain}`, { headers: { 'If-None-Match': etag } }),
      expect: { status: 304, headers: { etag } },
    },
    {
      name: 'forced to be saved',
      ...get(`/api/files${plain}?download=1`, {}),
      expect: { status: 200, headers: { 'content-disposition': is.matching(/^attachment/) } },
    },
    ...[[page, 'text/html; charset=utf-8'] as const, [picture, 'image/svg+xml'] as const].map(([path, type]) => ({
      name: `${type} is never shown as a page`,
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
    { name: 'a size that is none', ...get(`/api/files${image}?thumb=big`, {}), expect: { status: 400 } },
    {
      name: 'a preview of what is no image is the file',
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

onEachTopology('who may have a file', async (t, target) => {
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

  await t.test('a protected file needs a token, an admin does not [contract §3]', async () => {
    const url = urlOf('secret');
    assert.equal(await status(guest, url), 401);
    assert.equal(await status(user, `${url}?token=nonsense`), 401);
    assert.equal(await status(admin, url), 200);
    assert.equal(await status(guest, `${url}?token=${await mint(guest, 'secret')}`), 200);
    assert.equal(await status(guest, `${url}?token=${await mint(guest, 'once')}`), 401, 'the token of another file');
  });

  await t.test('requireAuth wants somebody who is signed in [interface §2.2]', async () => {
    assert.equal(await status(guest, urlOf('members')), 401);
    assert.equal(await status(user, urlOf('members')), 200);
  });

  await t.test('the rule of the field is asked beside that of the collection [interface §2.2]', async () => {
    assert.equal(await status(guest, urlOf('ruled')), 403);
    await guest.patch(`/api/v1/vault/${record.id}`, { open: true });
    assert.equal(await status(guest, urlOf('ruled')), 200);
  });

  await t.test('a one-time token works once, of parallel fetches for one; HEAD leaves it [contract §3]', async () => {
    const url = `${urlOf('once')}?token=${await mint(guest, 'once')}`;
    assert.equal(await status(guest, url, 'HEAD'), 200);
    const answers = await Promise.all(Array.from({ length: 8 }, () => status(guest, url)));
    assert.deepEqual(answers.sort(), [200, ...Array(7).fill(410)]);
    assert.equal(await status(guest, url, 'HEAD'), 410);
  });

  await t.test('a bound token works from its address [interface §2.2]', async () => {
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

  await t.test('a token ends with the password of whoever asked for it', async () => {
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
    assert.deepEqual([await status(guest, own), await status(guest, acted)], [200, 401], 'the admin acts no more');
    const change = { old_password: password, password: `${password} two` };
    await kim.post('/api/v1/auth/keepers/change-password', change, 200);
    assert.equal(await status(guest, own), 401);
  });

  await t.test('tokens are made for those who may view, and for files that are there [contract §3]', async () => {
    const body = { collection: 'vault', id: record.id, filename: 'a_0123456789.txt' };
    assert.equal((await guest.send('POST', '/api/v1/files/token', { body })).status, 404);
    await admin.patch('/api/v1/collections/vault', { view_rule: '' });
    const hidden = { ...body, filename: record.secret };
    await eventually('the rule counts', async () => {
      return (await guest.send('POST', '/api/v1/files/token', { body: hidden })).status === 403;
    });
    assert.equal(await status(guest, `${urlOf('secret')}?token=${await mint(admin, 'secret')}`), 200);
  });

  await t.test('a download is audited where its field asks for that [interface §6.3]', async () => {
    const rows = async () =>
      listAt((await admin.get('/api/v1/admin/audit?action=files.download&perPage=1000')).json, 'data');
    const before = await rows();
    const target_id = `vault/${record.id}/${record.once}`;
    const url = urlOf('once');
    assert.ok(before.length > 0 && before.every((row) => row.target_id === target_id && row.target_type === 'file'));
    // What nobody got is no download: a range beyond the end, a file that is not there, a look at the head.
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

  await t.test('a rule that can not be read is refused with the definition [contract §8]', async () => {
    const body = { name: 'bad', type: 'base', fields: [fileField('f', { viewRule: 'nothing = 1' })] };
    const answer = await admin.send('POST', '/api/v1/collections', { body });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /fields\.f\.options\.viewRule/);
  });
});

onEachTopology('files go with what they belong to', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await define(admin, 'boxes', [{ name: 'n', type: 'number' }, fileField('doc')], { history_enabled: true });

  await t.test('a restore leaves out what is gone [contract §2]', async () => {
    const record = await upload(guest, '/api/v1/boxes', { name: 'n', content: '1' }, file('doc', 'a.txt', 'A'));
    const path = `/api/v1/boxes/${record.id}`;
    await guest.patch(path, { n: 2, doc: null });
    const url = `/api/files/boxes/${record.id}/${record.doc}`;
    await eventually('the bytes are gone', async () => (await guest.get(url)).status === 404);
    const restored = await admin.send('POST', `${path}/restore?at=${record.updated}`);
    assert.equal(restored.status, 200, restored.text);
    const now = objectAt(restored.json, 'data');
    assert.equal(now.n, 1);
    assert.ok(now.doc === null || (await guest.get(`/api/files/boxes/${record.id}/${now.doc}`)).status === 200);
  });

  await t.test('a deleted record has no files, a dropped field neither [contract §3]', async () => {
    const record = await upload(guest, '/api/v1/boxes', file('doc', 'a.txt', 'A'));
    await guest.delete(`/api/v1/boxes/${record.id}`);
    assert.equal((await guest.get(`/api/files/boxes/${record.id}/${record.doc}`)).status, 404);
    await admin.patch('/api/v1/collections/boxes', { fields: [{ name: 'n', type: 'number' }] });
    await admin.delete('/api/v1/collections/boxes');
  });

  await t.test('a create with files is made once for its key [contract §1]', async () => {
    await define(admin, 'keyed', [fileField('doc')]);
    const send = () => {
      const form = multipart(file('doc', 'a.txt', 'A'));
      const headers = { ...form.headers, 'X-Service-Idempotency-Key': `files-${target.url}` };
      return guest.send('POST', '/api/v1/keyed', { ...form, headers });
    };
    const first = await send();
    const again = await send();
    assert.equal(first.status, 201, first.text);
    assert.equal(again.text, first.text);
    assert.equal(again.headers['idempotency-replayed'], 'true');
  });
});
