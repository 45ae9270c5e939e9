import assert from 'node:assert/strict';
import { file } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, namesOf, png, upload } from './file-forms.ts';

/** Each has the name that a form sends, the stored slug and extension, and the name that a download has. */
const hostile: readonly (readonly [sent: string, stored: RegExp, original: string | null])[] = [
  ['My Photo.TXT', /^my_photo_\w{10}\.txt$/, 'My Photo.TXT'],
  ['../../etc/passwd', /^passwd_\w{10}$/, 'passwd'],
  ['..\\..\\boot.ini', /^boot_\w{10}\.ini$/, 'boot.ini'],
  [
    'a%0D%0ASet-Cookie: x=y.txt',
    /^aset_cookie_x_y_\w{10}\.txt$|^a_set_cookie_x_y_\w{10}\.txt$/,
    'aSet-Cookie: x=y.txt',
  ],
  ['say %22hello%22.txt', /^say_hello_\w{10}\.txt$/, 'say "hello".txt'],
  ["it's 50%; filename=b.txt", /^it_s_50_filename_b_\w{10}\.txt$/, "it's 50%; filename=b.txt"],
  [`${'x'.repeat(300)}.txt`, /^x{100}_\w{10}\.txt$/, `${'x'.repeat(251)}.txt`],
  [`${'語'.repeat(300)}.txt`, /^語{50}_\w{10}\.txt$/, `${'語'.repeat(83)}.txt`],
  ['invoice\u202Etxt.exe', /^invoice_txt_\w{10}\.exe$/, 'invoicetxt.exe'],
  ['🎉 party.txt', /^party_\w{10}\.txt$/, '🎉 party.txt'],
  ['....', /^file_\w{10}$/, null],
  ['U\u0308bung.txt', /^übung_\w{10}\.txt$/, 'Übung.txt'],
  ['отчёт за май.txt', /^отчёт_за_май_\w{10}\.txt$/, 'отчёт за май.txt'],
  ['ملف.txt', /^ملف_\w{10}\.txt$/, 'ملف.txt'],
];

/** The name in a `Content-Disposition`, as a browser takes it. */
function savedAs(header: string): string | undefined {
  const encoded = /filename\*=UTF-8''(\S+)$/.exec(header)?.[1];
  return encoded === undefined ? /filename="([^"]*)"$/.exec(header)?.[1] : decodeURIComponent(encoded);
}

onEachTopology('files keep the names that their senders gave them', async (t, target) => {
  const admin = await target.admin();
  await admin.define('named', [fileField('doc'), fileField('papers', { multiple: true })]);

  for (const [sent, stored, original] of hostile)
    await t.test(`${JSON.stringify(sent).slice(0, 40)} [files §2.1, §2.3, §4.5]`, async () => {
      const record = await upload(target.guest, '/api/v1/named', file('doc', sent, 'text'));
      const name = String(record.doc);
      assert.match(name, stored);
      const read = await target.guest.get(`/api/v1/named/${record.id}?fields=*,_files`);
      assert.deepEqual(objectAt(read.json, 'data')._files, {
        doc: [{ name, original, size: 4, type: 'text/plain' }],
        papers: [],
      });
      const answer = await target.guest.get(`/api/files/named/${record.id}/${encodeURIComponent(name)}?download=1`);
      assert.equal(answer.status, 200);
      assert.equal(answer.text, 'text');
      assert.equal(answer.headers['set-cookie'], undefined);
      const header = String(answer.headers['content-disposition']);
      assert.match(header, /^attachment; filename="[ -~]+"/);
      assert.equal(savedAs(header), original ?? name);
    });

  const one = await upload(
    target.guest,
    '/api/v1/named',
    file('papers', 'One.txt', '1'),
    file('papers', 'Zwei ü.png', png),
  );
  const [first = '', second = ''] = namesOf(one, 'papers');
  const described = [
    { name: first, original: 'One.txt', size: 1, type: 'text/plain' },
    { name: second, original: 'Zwei ü.png', size: png.length, type: 'image/png' },
  ];
  const shown = (fields: string) => ({
    spec: 'records §11.3',
    request: `GET /api/v1/named/${one.id}?fields=${fields}`,
  });
  await runScenarios(t, target, [
    {
      name: '_files by its name',
      ...shown('_files'),
      expect: { status: 200, json: { data: { id: one.id, _files: { doc: [], papers: described } } } },
    },
    {
      name: '_files of one field',
      ...shown('_files.papers'),
      expect: { status: 200, json: { data: { id: one.id, _files: { papers: described } } } },
    },
    {
      name: 'no _files for a star',
      ...shown('*'),
      expect: { status: 200, json: { data: is.containing({ papers: [first, second], _files: undefined }) } },
    },
    {
      name: 'a body that has _files',
      spec: 'records §5.2',
      request: `PATCH /api/v1/named/${one.id}`,
      body: { papers: [second], _files: { papers: [] } },
      expect: { status: 200, json: { data: is.containing({ papers: [second] }) } },
      events: ['named.update'],
    },
    {
      name: '_files after a change, in a list',
      spec: 'records §11.3',
      request: `GET /api/v1/named?fields=_files.papers&filter=${encodeURIComponent(`id = "${one.id}"`)}`,
      expect: {
        status: 200,
        json: is.containing({ data: [{ id: one.id, _files: { papers: [described[1]] } }] }),
      },
    },
  ]);
});

onEachTopology('_files shows no more than the fields', async (t, target) => {
  const admin = await target.admin();
  await admin.define('owners', [{ name: 'name', type: 'text' }, fileField('photo')]);
  await admin.define('ruled', [
    { name: 'owner', type: 'relation', collection: 'owners' },
    { name: 'isOpen', type: 'bool' },
    { ...fileField('closed'), view_rule: '' },
    { ...fileField('maybe'), view_rule: 'isOpen = true' },
  ]);
  const owner = await upload(target.guest, '/api/v1/owners', file('photo', 'Ada.txt', 'x'));
  const make = (isOpen: string) =>
    upload(
      admin,
      '/api/v1/ruled',
      { name: 'owner', content: String(owner.id) },
      { name: 'isOpen', content: isOpen },
      file('closed', 'Closed.txt', 'x'),
      file('maybe', 'Maybe.txt', 'x'),
    );
  const [open, shut] = [await make('true'), await make('false')];
  const details = (name: unknown, original: string) => [{ name, original, size: 1, type: 'text/plain' }];
  const get = (id: unknown, fields: string, as?: string) => ({
    spec: 'records §11.3',
    request: `GET /api/v1/ruled/${id}?${fields}`,
    ...(as && { as: as as 'admin' }),
  });
  await runScenarios(t, target, [
    {
      name: 'a field whose rule holds',
      ...get(open.id, 'fields=_files'),
      expect: { status: 200, json: { data: { id: open.id, _files: { maybe: details(open.maybe, 'Maybe.txt') } } } },
    },
    {
      name: 'a field whose rule does not hold',
      ...get(shut.id, 'fields=_files'),
      expect: { status: 200, json: { data: { id: shut.id, _files: {} } } },
    },
    {
      name: 'an expanded record',
      ...get(open.id, 'fields=expand.owner._files&expand=owner'),
      expect: {
        status: 200,
        json: {
          data: {
            id: open.id,
            expand: { owner: { id: owner.id, _files: { photo: details(owner.photo, 'Ada.txt') } } },
          },
        },
      },
    },
  ]);
});

onEachTopology('a moved file keeps its name, and a removed one leaves none', async (t, target) => {
  const admin = await target.admin();
  await admin.define('moved', [fileField('doc')], { history_enabled: true });
  const record = await upload(target.guest, '/api/v1/moved', file('doc', 'Vertrag ü.txt', 'text'));
  const path = `/api/v1/files/moved/${record.id}/${encodeURIComponent(String(record.doc))}`;
  const filesOf = async (id: unknown) =>
    objectAt((await admin.get(`/api/v1/moved/${id}?fields=_files`)).json, 'data._files').doc;
  const original = 'Vertrag ü.txt';
  assert.deepEqual(await filesOf(record.id), [{ name: record.doc, original, size: 4, type: 'text/plain' }]);

  await t.test('PUT takes the name from a download [files §3.10]', async () => {
    const row = { id: 'moved-1', doc: 'vertrag_ü_0123456789.txt' };
    const job = await admin.send('POST', '/api/v1/moved/import?keep=id,files', {
      rawBody: `${JSON.stringify(row)}\n`,
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    assert.equal(job.status, 202, job.text);
    await eventually('the row is imported', async () => (await admin.get('/api/v1/moved/moved-1')).status === 200);
    assert.deepEqual(await filesOf('moved-1'), [{ name: row.doc, original: null, size: null, type: null }]);
    const disposition = String((await target.guest.get(path)).headers['content-disposition']);
    const put = (headers: Readonly<Record<string, string>>) =>
      admin.send('PUT', `/api/v1/files/moved/moved-1/${encodeURIComponent(row.doc)}`, {
        rawBody: 'text',
        headers: { 'Content-Type': 'application/octet-stream', ...headers },
      });
    assert.equal((await put({ 'Content-Disposition': disposition })).status, 201);
    const known = [{ name: row.doc, original, size: 4, type: 'text/plain' }];
    assert.deepEqual(await filesOf('moved-1'), known);
    assert.equal((await put({})).status, 200);
    assert.deepEqual(await filesOf('moved-1'), known);
    const answer = await target.guest.get(`/api/files/moved/moved-1/${encodeURIComponent(row.doc)}`);
    assert.equal(savedAs(String(answer.headers['content-disposition'])), original);
  });

  await t.test('a deleted record leaves no name [files §8]', async () => {
    assert.equal((await admin.send('DELETE', `/api/v1/moved/${record.id}`)).status, 200);
    if (target.databaseUrl === undefined) return;
    const left = () =>
      inDatabase(target, 'select from system.uploaded_files where record_id = $1', [String(record.id)]);
    await eventually('nothing is known about its files', async () => (await left()).length === 0);
  });
});
