import assert from 'node:assert/strict';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, namesOf, png, upload } from './file-forms.ts';

onEachTopology('forms upload files', async (t, target) => {
  const admin = await target.admin();
  await admin.define('papers', [
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
      name: 'parts as the types of their fields, with files named by a slug',
      spec: 'files §2.1, §3.2',
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
            cover: is.matching(/^my_phöto_[a-z0-9]{10}\.png$/),
            scans: [is.matching(/^passwd_[a-z0-9]{10}$/), is.matching(/^b_[a-z0-9]{10}\.txt$/)],
            created: is.now,
            updated: is.now,
          },
        },
      },
      events: ['papers.create'],
    },
    {
      name: 'one JSON part for the other fields',
      spec: 'files §3.3',
      request: 'POST /api/papers',
      ...multipart({ name: '_json', content: '{"title":"Two","pages":4}' }, file('scans', 'a.txt', 'x')),
      expect: { status: 201, json: { data: is.containing({ title: 'Two', pages: 4, cover: null }) } },
      events: ['papers.create'],
    },
    {
      name: 'a multiple field without files, as an empty list',
      spec: 'files §1.1',
      request: 'POST /api/papers',
      body: { title: 'None' },
      expect: { status: 201, json: { data: is.containing({ title: 'None', cover: null, scans: [] }) } },
      events: ['papers.create'],
    },
    {
      name: 'a form without files',
      spec: 'files §3.1',
      request: 'POST /api/v1/records/papers',
      ...multipart({ name: 'title', content: 'Three' }, { name: 'scans', content: '[]' }),
      expect: { status: 201, json: { data: is.containing({ title: 'Three', scans: [] }) } },
      events: ['papers.create'],
    },
    ...(
      [
        ['a declared type that the content contradicts', [file('cover', 'a.png', 'no image', 'image/png')], 'cover'],
        ['a file over maxSize', [file('cover', 'a.png', Buffer.concat([png, Buffer.alloc(1000)]))], 'cover'],
        ['two files for a single field', [file('cover', 'a.png', png), file('cover', 'b.png', png)], 'cover'],
        ['a file for a field of another type', [file('title', 'a.txt', 'x')], 'title'],
        ['a file for an unknown field', [file('nothing', 'a.txt', 'x')], 'nothing'],
        ['a part that is not a number', [{ name: 'pages', content: 'many' }], 'pages'],
        [
          'a create with the name of a file without an upload',
          [{ name: 'cover', content: 'a_0123456789.png' }],
          'cover',
        ],
      ] as const
    ).map(([name, parts, field]) => ({
      name,
      spec: 'files §3.4, §3.8',
      request: 'POST /api/v1/papers',
      ...multipart(...parts),
      expect: {
        status: 422,
        json: { error: 'validation failed', code: 'validation_failed', details: { [field]: is.text } },
      },
    })),
    {
      name: 'a body that is not a form',
      spec: 'http §2.1',
      request: 'POST /api/v1/papers',
      rawBody: 'x',
      headers: { 'Content-Type': 'multipart/form-data; boundary=y' },
      expect: { status: 400 },
    },
    {
      name: 'another content type',
      spec: 'http §2.2',
      request: 'POST /api/v1/papers',
      rawBody: 'x',
      headers: { 'Content-Type': 'text/plain' },
      expect: { status: 415 },
    },
    {
      name: 'a form for a route that does not read forms',
      spec: 'http §2.2',
      as: 'admin',
      request: 'POST /api/v1/collections',
      ...multipart({ name: 'name', content: 'x' }),
      expect: { status: 415 },
    },
    {
      name: 'a form over the limit',
      spec: 'files §3.5',
      request: 'POST /api/v1/papers',
      rawBody: '',
      headers: { 'Content-Type': 'multipart/form-data; boundary=y', 'Content-Length': String(101 * 1024 * 1024) },
      expect: { status: 413 },
    },
    {
      name: 'a form with 1 MiB of text',
      spec: 'files §3.5',
      request: 'POST /api/v1/papers',
      ...multipart({ name: 'title', content: 'x'.repeat(1024 * 1024 - 'title'.length) }),
      expect: { status: 201 },
      events: ['papers.create'],
    },
    ...[
      [{ name: 'title', content: 'x'.repeat(1024 * 1024) }],
      [
        { name: 'title', content: 'x'.repeat(600_000) },
        { name: '_json', content: JSON.stringify({ pages: 1, title: 'x'.repeat(600_000) }) },
      ],
      ['title', 'pages', 'more'].map((name) => ({ name, content: 'é'.repeat(200_000) })),
    ].map((parts, index) => ({
      name: `a form with more than 1 MiB of text (${index + 1})`,
      spec: 'files §3.5',
      request: 'POST /api/v1/papers',
      ...multipart(...parts, file('cover', 'a.png', png)),
      expect: refused.tooLarge,
    })),
    {
      name: 'a form for an unknown record',
      spec: 'files §3.9',
      request: 'PATCH /api/v1/papers/0190a5a2-0000-7000-8000-000000000000',
      ...multipart(file('cover', 'a.txt', 'x')),
      expect: { status: 404 },
    },
  ]);
});

onEachTopology('files are added, kept, replaced and cleared', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.define('albums', [fileField('cover'), fileField('scans', { multiple: true })]);
  const record = await upload(guest, '/api/v1/albums', file('cover', 'c.txt', 'C'), file('scans', 'a.txt', 'A'));
  const path = `/api/v1/albums/${record.id}`;
  const bytes = async (name: string) => guest.get(`/api/files/albums/${record.id}/${name}`);

  await t.test("a PATCH adds to a multiple field and replaces a single one's file [files §3.6, §3.7]", async () => {
    const changed = await upload(guest, path, file('cover', 'd.txt', 'D'), file('scans', 'b.txt', 'B'));
    assert.equal(namesOf(changed, 'scans').length, 2);
    assert.equal(namesOf(changed, 'scans')[0], namesOf(record, 'scans')[0]);
    assert.equal((await bytes(textAt(changed, 'cover'))).text, 'D');
    await eventually('the content is gone', async () => (await bytes(textAt(record, 'cover'))).status === 404);
  });

  await t.test('parallel PATCHes lose no file [files §3.7]', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}.txt`);
    await Promise.all(names.map((name) => upload(guest, path, file('scans', name, name))));
    const now = namesOf(objectAt((await guest.get(path)).json, 'data'), 'scans');
    assert.equal(now.length, 10);
    for (const name of now) assert.equal((await bytes(name)).status, 200, name);
  });

  await t.test('a name list keeps those files, and new ones follow them [files §3.7]', async () => {
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
    await eventually('the other files are gone', async () => (await bytes(third)).status === 404);
    const unknown = await guest.send('PATCH', path, { body: { scans: [first, 'a_0123456789.txt'] } });
    assert.equal(unknown.status, 422, unknown.text);
  });

  await t.test(
    'null clears a field, and a record can be sent back as it was read [files §3.8, records §5.2]',
    async () => {
      const read = objectAt((await guest.get(path)).json, 'data');
      assert.deepEqual((await guest.patch(path, read)).scans, read.scans);
      const cleared = await guest.patch(path, { cover: null, scans: null });
      assert.equal(cleared.cover, null);
      assert.deepEqual(cleared.scans, []);
      await eventually('the content is gone', async () => (await bytes(textAt(read, 'cover'))).status === 404);
    },
  );
});

onEachTopology('files are deleted with their record, field or collection', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.define('boxes', [{ name: 'n', type: 'number' }, fileField('doc')], { history_enabled: true });

  await t.test('a restore leaves out files whose content is gone [history §5.5]', async () => {
    const record = await upload(guest, '/api/v1/boxes', { name: 'n', content: '1' }, file('doc', 'a.txt', 'A'));
    const path = `/api/v1/boxes/${record.id}`;
    await guest.patch(path, { n: 2, doc: null });
    const url = `/api/files/boxes/${record.id}/${record.doc}`;
    await eventually('the content is gone', async () => (await guest.get(url)).status === 404);
    const restored = await admin.send('POST', `${path}/restore?version=${record.updated}`);
    assert.equal(restored.status, 200, restored.text);
    const now = objectAt(restored.json, 'data');
    assert.equal(now.n, 1);
    assert.ok(now.doc === null || (await guest.get(`/api/files/boxes/${record.id}/${now.doc}`)).status === 200);
  });

  await t.test("a deleted record's and a dropped field's files are deleted [files §8]", async () => {
    const record = await upload(guest, '/api/v1/boxes', file('doc', 'a.txt', 'A'));
    await guest.delete(`/api/v1/boxes/${record.id}`);
    assert.equal((await guest.get(`/api/files/boxes/${record.id}/${record.doc}`)).status, 404);
    await admin.patch('/api/v1/collections/boxes', { fields: [{ name: 'n', type: 'number' }] });
    await admin.delete('/api/v1/collections/boxes');
  });

  await t.test('a create with files happens once for its idempotency key [http §7.8]', async () => {
    await admin.define('keyed', [fileField('doc')]);
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
