import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { onOneProcess, type Target } from '../harness/stacks/target.ts';
import { countsOf, imported, linesOf, operationsOn, recordsOf, refusedRows } from './import-jobs.ts';

const fields = [
  { name: 'title', type: 'text' },
  { name: 'code', type: 'text', options: { unique: true } },
  { name: 'n', type: 'number' },
];

async function openCollection(target: Target, name: string, more: object = {}) {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name, type: 'base', fields, history_enabled: true, ...more });
  return admin;
}

onOneProcess('an import by id', async (t, target) => {
  const admin = await openCollection(target, 'by_id');
  await admin.send('PUT', '/api/v1/by_id/a', { body: { title: 'old', code: 'a', n: 1 } });
  const rows = [
    { id: 'a', title: 'new' },
    { id: 'b', title: 'b', code: 'b' },
    { title: 'none' },
    { id: 'b', n: 5 },
    { id: 'export', title: 'reserved' },
    { id: 'c', title: 'c', code: 'a' },
  ];

  await t.test('changes existing records and creates the others, row by row [import §4.2]', async () => {
    const job = await imported(admin, 'by_id', { format: 'ndjson', mode: 'upsert' }, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 6, read: 6, done: 3, refused: 3 });
    assert.deepEqual(await recordsOf(admin, 'by_id', 'id,title,code,n'), [
      { id: 'a', title: 'new', code: 'a', n: 1 },
      { id: 'b', title: 'b', code: 'b', n: 5 },
    ]);
    const reasons = (await refusedRows(admin, job))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)._refused);
    assert.deepEqual(reasons, [
      { id: 'is required' },
      { id: 'must not be aggregate, batch, export, import, list, search' },
      { code: 'is already taken' },
    ]);
    assert.deepEqual(await operationsOn(admin, 'by_id', 'a'), ['create', 'update']);
    assert.deepEqual(await operationsOn(admin, 'by_id', 'b'), ['create', 'update']);
  });

  await t.test("publishes many records' changes [import §5.1]", async () => {
    const many = Array.from({ length: 10 }, (_, n) => ({ id: `event${n}`, title: 'first' }));
    await imported(admin, 'by_id', { format: 'ndjson', mode: 'upsert' }, linesOf(many));
    const later = many.map(({ id }, n) => ({ id, title: `later ${n}` }));
    await imported(admin, 'by_id', { format: 'ndjson', mode: 'upsert' }, linesOf(later));
    if (!target.natsUrl) return;
    await using bus = await openBusReader(target.natsUrl);
    const updated = await eventually('the event of the last change', () => {
      const found = bus.events.filter(({ subject }) => subject === 'events.by_id.update').map(({ body }) => body);
      return found.some((body) => at(body, 'data.record.id') === 'event9') && found;
    });
    const ofMany = updated.filter((body) => textAt(body, 'data.record.id').startsWith('event'));
    assert.deepEqual(
      ofMany.map((body) => at(body, 'data.record.title')),
      later.map(({ title }) => title),
    );
    assert.ok(ofMany.every((body) => body.batch === undefined));
    for (const { id } of many) await admin.delete(`/api/v1/by_id/${id}`);
  });

  await t.test('skips existing records [import §4.2]', async () => {
    const body = linesOf([
      { id: 'a', title: 'x' },
      { id: 'd', title: 'd' },
      { id: 'd', title: 'again' },
    ]);
    const job = await imported(admin, 'by_id', { format: 'ndjson', mode: 'skip' }, body);
    assert.deepEqual(countsOf(job), { total: 3, read: 3, done: 1, skipped: 2 });
    assert.deepEqual(await operationsOn(admin, 'by_id', 'a'), ['create', 'update']);
    assert.equal(at((await admin.get('/api/v1/by_id/d')).json, 'data.title'), 'd');
  });

  await t.test('refuses an existing id, without upsert and skip [import §4.2, §4.4]', async () => {
    const body = linesOf([
      { id: 'a', title: 'x' },
      { id: 'e', title: 'e' },
      { id: 'e', title: 'again' },
      { title: 'made' },
    ]);
    const job = await imported(admin, 'by_id', { format: 'ndjson', keep: 'id' }, body);
    assert.deepEqual(countsOf(job), { total: 4, read: 4, done: 2, refused: 2 });
    assert.match(await refusedRows(admin, job), /^\{"id":"a".*"_refused":\{"id":"is already taken"\}\}\n\{"id":"e"/);
  });

  await t.test('ignores ids without `keep` [import §2.1]', async () => {
    const job = await imported(admin, 'by_id', { format: 'ndjson' }, linesOf([{ id: 'a', title: 'other' }]));
    assert.deepEqual(countsOf(job), { total: 1, read: 1, done: 1 });
    assert.equal(at((await admin.get('/api/v1/by_id/a')).json, 'data.title'), 'new');
  });

  await t.test('changes thousands of records [import §5.1]', async () => {
    const many = (title: string) => Array.from({ length: 2300 }, (_, n) => ({ id: `m${n}`, title, n }));
    await imported(admin, 'by_id', { format: 'ndjson', mode: 'upsert' }, linesOf(many('first')));
    const job = await imported(admin, 'by_id', { format: 'ndjson', mode: 'upsert' }, linesOf(many('second')));
    assert.deepEqual(countsOf(job), { total: 2300, read: 2300, done: 2300 });
    const { json } = await admin.get(`/api/v1/by_id?filter=${encodeURIComponent('title = "second"')}`);
    assert.equal(at(json, 'totalItems'), 2300);
    assert.deepEqual(await operationsOn(admin, 'by_id', 'm7'), ['create', 'update']);
  });
});

onOneProcess('an import by unique fields', async (t, target) => {
  const admin = await openCollection(target, 'by_key');
  await admin.create('by_key', { title: 'old', code: 'Ä', n: 1 });

  await t.test('finds records by the values, row by row [import §4.2]', async () => {
    const body = 'code,title,n\nÄ,new,2\nb,b,3\nb,b2,4\n,none,5\n';
    const job = await imported(admin, 'by_key', { format: 'csv', mode: 'upsert', on: 'code' }, body);
    assert.deepEqual(countsOf(job), { total: 4, read: 4, done: 3, refused: 1 });
    const records = await recordsOf(admin, 'by_key', 'title,code,n');
    assert.deepEqual(records, [
      { title: 'new', code: 'Ä', n: 2 },
      { title: 'b2', code: 'b', n: 4 },
    ]);
    assert.match(await refusedRows(admin, job), /,none,5,code: must have the value of the record to find\r\n$/);
  });

  await t.test('skips by the values [import §4.2]', async () => {
    const job = await imported(admin, 'by_key', { format: 'csv', mode: 'skip', on: 'code' }, 'code,n\nÄ,9\nc,9\nc,8\n');
    assert.deepEqual(countsOf(job), { total: 3, read: 3, done: 1, skipped: 2 });
  });
});

onOneProcess('an import maps and keeps', async (t, target) => {
  const admin = await openCollection(target, 'kept', {
    fields: [
      ...fields,
      { name: 'born', type: 'autodate', onCreate: true },
      { name: 'seen', type: 'autodate', onCreate: true, onUpdate: true },
    ],
  });

  await t.test('columns by `map` [import §1.3]', async () => {
    const map = JSON.stringify({ Titel: 'title', Zahl: 'n', Rest: null });
    const job = await imported(admin, 'kept', { format: 'csv', map }, 'Titel,Zahl,Rest,code\na,1,x,m\n');
    assert.deepEqual(countsOf(job), { total: 1, read: 1, done: 1 });
    assert.deepEqual(await recordsOf(admin, 'kept', 'title,n,code'), [{ title: 'a', n: 1, code: 'm' }]);
  });

  const body = linesOf([
    { id: 'old', title: 'o', created: 1000, updated: 2000, born: 1001, seen: 2001 },
    { id: 'future', title: 'f', created: 99_999_999_999 },
    { id: 'text', title: 't', created: '2020-01-01T00:00:00Z', updated: 1_600_000_000 },
    { id: 'wrong', title: 'w', updated: 'x' },
  ]);
  await t.test('times and ids by `keep` [import §4.4]', async () => {
    const job = await imported(admin, 'kept', { format: 'ndjson', keep: 'updated,id,created' }, body);
    assert.deepEqual(countsOf(job), { total: 4, read: 4, done: 2, refused: 2 });
    const old = await admin.get('/api/v1/kept/old');
    assert.deepEqual(old.json, {
      data: { id: 'old', title: 'o', code: null, n: null, born: 1001, seen: 2001, created: 1000, updated: 2000 },
    });
    assert.equal(old.headers.etag, 'W/"2000"');
    const text = at((await admin.get('/api/v1/kept/text')).json, 'data');
    assert.deepEqual([at(text, 'created'), at(text, 'updated')], [1_577_836_800, 1_600_000_000]);
    assert.match(await refusedRows(admin, job), /must not be in the future[\s\S]*must be unix seconds or a date/);
  });

  await t.test("but never reuses an earlier record's version with the id [import §4.4]", async () => {
    const created = await admin.send('PUT', '/api/v1/kept/back', { body: { title: '1' } });
    await admin.delete('/api/v1/kept/back');
    const again = linesOf([{ id: 'back', title: '2', updated: 5, created: 5 }]);
    await imported(admin, 'kept', { format: 'ndjson', keep: 'id,updated,created' }, again);
    const { headers, json } = await admin.get('/api/v1/kept/back');
    assert.ok(String(headers.etag) > String(created.headers.etag), `${headers.etag} after ${created.headers.etag}`);
    assert.equal(at(json, 'data.created'), 5);
  });
});

onOneProcess('an account import', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [{ name: 'name', type: 'text' }] });
  const hash = '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$';

  await t.test('takes passwords, hashes and neither [import §4.3]', async () => {
    const body = linesOf([
      { email: 'plain@example.com', password: 'correct horse battery', verified: true, name: 'P' },
      { email: 'none@example.com' },
      { email: 'hash@example.com', password: `${hash}${'A'.repeat(43)}` },
      { email: 'short@example.com', password: 'x' },
      {
        email: 'costly@example.com',
        password: `$argon2id$v=19$m=9999999,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$${'A'.repeat(43)}`,
      },
      { email: 'plain@example.com', password: 'correct horse battery' },
      { email: 'not an address' },
    ]);
    const job = await imported(admin, 'people', { format: 'ndjson' }, body);
    assert.deepEqual(countsOf(job), { total: 7, read: 7, done: 4, refused: 3 });
    const signIn = (email: string, password: string) =>
      target.guest.send('POST', '/api/v1/auth/people/login', { body: { email, password } });
    const answer = await signIn('plain@example.com', 'correct horse battery');
    assert.equal(answer.status, 200, answer.text);
    assert.equal(at(answer.json, 'data.record.verified'), true);
    assert.equal((await signIn('none@example.com', '')).status >= 400, true);
    assert.equal((await signIn('hash@example.com', 'wrong horse battery')).status, 401);
  });

  await t.test("keeps other systems' hashes, for a sign-in or a reset [auth §2.2]", async () => {
    const right = 'correct horse battery';
    const hashes: Readonly<Record<string, string>> = {
      bcrypt: '$2b$04$f2n.17Bcipj7b6ecDWz.5e8zWTKTlUW063qblRWLrvk89jVRPVY7i',
      weak: '$argon2i$v=19$m=64,t=2,p=1$Dpt/Kv3+8yJ0J1mjwtEbuw$hk1kG5GoWeX7SeihhTaSxwP0nDShF7zaxDwe3gSF9K8',
      // For the password in NFD, at a lower cost.
      decomposed: '$argon2id$v=19$m=64,t=2,p=1$DVB5Hj5pS2HizkXVT2pEAQ$GnnLKKpGeKfHhk3PJs/n1ToN+a8wN5tKPabmPWdbB34',
      costly: `$argon2id$v=19$m=155649,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$${'A'.repeat(43)}`,
      endless: `$2b$31$${'a'.repeat(53)}`,
      broken: `$argon2id$v=19$m=1,t=1,p=9$MDEyMzQ1Njc4OWFiY2RlZg$${'A'.repeat(43)}`,
      other: `$scrypt$ln=17,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$${'A'.repeat(43)}`,
    };
    const rows = Object.entries(hashes).map(([name, stored]) => ({ email: `${name}@hash.example`, password: stored }));
    const job = await imported(admin, 'people', { format: 'ndjson' }, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: rows.length, read: rows.length, done: rows.length });
    const signIn = async (name: string, password: string) => {
      const body = { email: `${name}@hash.example`, password };
      const { status, json } = await target.guest.send('POST', '/api/v1/auth/people/login', { body });
      return status === 200 ? 200 : [status, at(json, 'code')];
    };
    for (const name of Object.keys(hashes))
      assert.deepEqual(await signIn(name, 'wrong horse battery'), [401, 'invalid_credentials'], name);
    // The second sign-in is by the hash that the first one has stored.
    for (const round of ['first', 'second']) assert.equal(await signIn('bcrypt', right), 200, round);
    const [composed, decomposed] = ['cöRrect horse battery'.normalize('NFC'), 'cöRrect horse battery'.normalize('NFD')];
    assert.deepEqual(await signIn('decomposed', composed), [401, 'invalid_credentials']);
    for (const sent of [decomposed, composed, decomposed]) assert.equal(await signIn('decomposed', sent), 200);
    assert.deepEqual(await signIn('weak', right), [403, 'password_reset_required']);
    for (const name of ['costly', 'endless', 'broken', 'other'])
      assert.deepEqual(await signIn(name, right), [401, 'invalid_credentials'], name);
  });

  await t.test('changes accounts [import §4.2]', async () => {
    const body = 'email,name,password\nplain@example.com,New,\nnone@example.com,N,another horse battery\n';
    const job = await imported(admin, 'people', { format: 'csv', mode: 'upsert', on: 'email' }, body);
    assert.deepEqual(countsOf(job), { total: 2, read: 2, done: 2 }, await refusedRows(admin, job));
    const login = await target.guest.send('POST', '/api/v1/auth/people/login', {
      body: { email: 'none@example.com', password: 'another horse battery' },
    });
    assert.equal(login.status, 200, login.text);
  });
});

onOneProcess('an import beside files', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'filed',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'doc', type: 'file' },
    ],
  });
  const form = multipart({ name: 'title', content: 'with' }, file('doc', 'a.txt', 'hello'));
  const created = await admin.send('POST', '/api/v1/filed', { ...form });
  assert.equal(created.status, 201, created.text);
  const id = String(at(created.json, 'data.id'));
  const doc = String(at(created.json, 'data.doc'));

  await t.test('keeps the files, and accepts no others [import §4.3]', async () => {
    const rows = [
      { id, title: 'same', doc },
      { id, title: 'nothing', doc: null },
      { id, title: 'other', doc: 'other_abcdefghij.txt' },
      { id: 'fresh', title: 'fresh', doc },
      { id: 'empty', title: 'empty', doc: '' },
    ];
    const job = await imported(admin, 'filed', { format: 'ndjson', mode: 'upsert' }, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 5, read: 5, done: 3, refused: 2 }, await refusedRows(admin, job));
    assert.deepEqual(
      (await recordsOf(admin, 'filed', 'id,title,doc')).filter((record) => at(record, 'id') === id),
      [{ id, title: 'nothing', doc }],
    );
    assert.equal((await admin.get(`/api/v1/files/filed/${id}/${doc}`)).text, 'hello');
  });
});
