import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at, textAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { countsOf, ended, imported, recordsOf, refusedRows, sendImport } from './import-jobs.ts';

const fields = [
  { name: 'title', type: 'text' },
  { name: 'n', type: 'number' },
  { name: 'ok', type: 'bool' },
  { name: 'at', type: 'date' },
  { name: 'meta', type: 'json' },
  { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
  { name: 'place', type: 'geoPoint' },
];

let count = 0;

/** Creates a collection with these fields and imports CSV into it. Returns its records and the job. */
async function importCsv(admin: Client, body: string | Uint8Array, parameters: Record<string, string> = {}) {
  count += 1;
  const name = `csv_${count}`;
  await admin.post('/api/v1/collections', { name, type: 'base', fields });
  const job = await imported(admin, name, { format: 'csv', ...parameters }, body);
  return { name, job, records: (shown: string) => recordsOf(admin, name, shown) };
}

onOneProcess('a CSV import reads cells', async (t, target) => {
  const admin = await target.admin();

  await t.test('for every field type [import §3.2]', async () => {
    const { job, records } = await importCsv(
      admin,
      [
        'title,n,ok,at,meta,tags,place',
        `007,-1.50,true,1767225600,"{""a"":[1]}","[""a"",""b""]","{""lat"":1,""lng"":2}"`,
        `"a ""b"", c",1e3,false,2026-01-01T00:00:00Z,"""text""",a,`,
        `"two\r\nlines",,,,,,`,
        '',
      ].join('\r\n'),
    );
    assert.deepEqual(countsOf(job), { total: 3, read: 3, done: 3 });
    assert.deepEqual(await records('title,n,ok,at,meta,tags,place'), [
      {
        title: '007',
        n: -1.5,
        ok: true,
        at: 1767225600,
        meta: { a: [1] },
        tags: ['a', 'b'],
        place: { lat: 1, lng: 2 },
      },
      { title: 'a "b", c', n: 1000, ok: false, at: 1767225600, meta: 'text', tags: ['a'], place: null },
      { title: 'two\r\nlines', n: null, ok: null, at: null, meta: null, tags: null, place: null },
    ]);
  });

  await t.test('an empty cell as null, a quoted empty cell as the empty text [import §3.2]', async () => {
    const { records } = await importCsv(admin, 'title,n\n,1\n"",2\nNULL,3\n');
    assert.deepEqual(await records('title'), [{ title: null }, { title: '' }, { title: 'NULL' }]);
  });

  await t.test('the text of `null` as null, unless it is in quotes [import §3.2]', async () => {
    const { records } = await importCsv(admin, 'title,n\nNULL,1\n"NULL",2\n,3\n', { null: 'NULL' });
    assert.deepEqual(await records('title'), [{ title: null }, { title: 'NULL' }, { title: '' }]);
  });

  await t.test("an export's escaped formulas as the original texts [import §3.2]", async () => {
    const { records } = await importCsv(admin, "title,n\n'=1+1,-1\n''@x,+2\n'plain,3\n=raw,4\n");
    assert.deepEqual(await records('title,n'), [
      { title: '=1+1', n: -1 },
      { title: "'@x", n: 2 },
      { title: "'plain", n: 3 },
      { title: '=raw', n: 4 },
    ]);
  });

  await t.test('no number from NaN and other texts [import §5.2]', async () => {
    const { job } = await importCsv(admin, 'title,n\na,NaN\nb,0x10\nc," 5 "\nd,Infinity\n');
    assert.deepEqual(countsOf(job), { total: 4, read: 4, done: 1, refused: 3 });
    const refused = ['a,NaN', 'b,0x10', 'd,Infinity'].map((line) => `${line},n: must be a number\r\n`);
    assert.equal(await refusedRows(admin, job), `title,n,_refused\r\n${refused.join('')}`);
  });
});

onOneProcess('a CSV import reads lines', async (t, target) => {
  const admin = await target.admin();

  await t.test('with any separator and any line end [import §3.1]', async () => {
    const { records } = await importCsv(admin, 'title;n\na;1\r\nb;2\rc;3\n\n"d;e";4', { separator: ';' });
    assert.deepEqual(await records('title,n'), [
      { title: 'a', n: 1 },
      { title: 'b', n: 2 },
      { title: 'c', n: 3 },
      { title: 'd;e', n: 4 },
    ]);
    const tabs = await importCsv(admin, 'title\tn\na,b\t1\n', { separator: '\t' });
    assert.deepEqual(await tabs.records('title'), [{ title: 'a,b' }]);
    const arrows = await importCsv(admin, 'title→n\na→1\n', { separator: '→' });
    assert.deepEqual(await arrows.records('title,n'), [{ title: 'a', n: 1 }]);
  });

  await t.test("with their first line's separator, if none is named [import §3.1]", async () => {
    const bodies = [
      'title;n\r\n"a,b,c,d";1\r\n',
      'title\tn\n"a,b,c,d"\t1\n',
      '\n\ntitle,n\n"a,b,c,d",1\n',
      'sep=;\r\ntitle;n\r\n"a,b,c,d";1\r\n',
      '\ufeff"sep=|"\ntitle|n\n"a,b,c,d"|1\n',
      'SEP=→\r\rtitle→n\ra,b,c,d→1',
      '"title";"n"\n"a,b,c,d";"1"',
    ];
    for (const body of bodies) {
      const { records } = await importCsv(admin, body);
      assert.deepEqual(await records('title,n'), [{ title: 'a,b,c,d', n: 1 }], body);
    }
    const { records } = await importCsv(admin, 'sep=;\ntitle,n\n"a;b",1\n', { separator: ',' });
    assert.deepEqual(await records('title,n'), [{ title: 'a;b', n: 1 }]);
    const single = await importCsv(admin, 'title\na;b\n"c,d"\n');
    assert.deepEqual(await single.records('title'), [{ title: 'a;b' }, { title: 'c,d' }]);
  });

  await t.test('again from an earlier body, with its separator [import §1.5]', async () => {
    const { name, job } = await importCsv(admin, 'sep=;\ntitle;n\na;x\nb;2\n', { dry_run: '1' });
    assert.deepEqual(countsOf(job), { total: 2, read: 2, done: 1, refused: 1 });
    assert.equal(await refusedRows(admin, job), 'title;n;_refused\r\na;x;n: must be a number\r\n');
    const query = `format=csv&upload=${textAt(job, 'id')}`;
    const again = await admin.send('POST', `/api/v1/records/${name}/import?${query}`, {});
    assert.equal(again.status, 202, again.text);
    const done = await ended(admin, textAt(again.json, 'data.id'));
    assert.deepEqual(countsOf(done), { total: 2, read: 2, done: 1, refused: 1 });
    assert.deepEqual(await recordsOf(admin, name, 'title,n'), [{ title: 'b', n: 2 }]);
  });

  await t.test('without the spaces and empty columns that spreadsheets add [import §3.1]', async () => {
    const body = ' title , n\u00a0,,\n a ,1,,\nb,2\nc,3,\nd,4,,5\n';
    const { job, records } = await importCsv(admin, body);
    assert.deepEqual(countsOf(job), { total: 4, read: 4, done: 3, refused: 1 });
    assert.deepEqual(await records('title,n'), [
      { title: ' a ', n: 1 },
      { title: 'b', n: 2 },
      { title: 'c', n: 3 },
    ]);
    assert.match(await refusedRows(admin, job), /d,4,,5,"?has 4 cells, and the header has 2/);
    const map = JSON.stringify({ ' Titel ': 'title' });
    const mapped = await importCsv(admin, ' Titel ,n\na,1\n', { map });
    assert.deepEqual(await mapped.records('title,n'), [{ title: 'a', n: 1 }]);
    const trimmed = await importCsv(admin, 'Titel ,n\na,1\n', { map: JSON.stringify({ Titel: 'title' }) });
    assert.deepEqual(await trimmed.records('title,n'), [{ title: 'a', n: 1 }]);
    const nameless = await sendImport(admin, mapped.name, { format: 'csv' }, ',,\n1,2,3\n');
    assert.equal(nameless.status, 422, nameless.text);
    assert.match(nameless.text, /no column has a name.*body_broken/);
  });

  await t.test('with booleans as spreadsheets write them [import §3.2]', async () => {
    const { job, records } = await importCsv(admin, 'ok\nTRUE\nFALSE\nTrue\n"FALSE"\nWAHR\n1\n');
    assert.deepEqual(countsOf(job), { total: 6, read: 6, done: 4, refused: 2 });
    assert.deepEqual(await records('ok'), [{ ok: true }, { ok: false }, { ok: true }, { ok: false }]);
  });

  const text = 'title,n\nZürich 😀,1\n';
  const encodings: readonly [string, Buffer, Record<string, string>][] = [
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`), {}],
    ['UTF-16LE with a mark', Buffer.from(`\ufeff${text}`, 'utf16le'), {}],
    ['UTF-16LE without a mark', Buffer.from(text, 'utf16le'), { encoding: 'utf-16le' }],
    ['UTF-16BE with a mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), {}],
    ['UTF-16BE without a mark', Buffer.from(text, 'utf16le').swap16(), { encoding: 'utf-16be' }],
  ];
  for (const [name, body, parameters] of encodings)
    await t.test(`in ${name} [import §3.4]`, async () => {
      const { records } = await importCsv(admin, body, parameters);
      assert.deepEqual(await records('title,n'), [{ title: 'Zürich 😀', n: 1 }]);
    });

  const charsets: readonly [charset: string, body: Buffer, text: string][] = [
    ['windows-1252', Buffer.from('title,n\nZ\xfcrich \x80,1\n', 'latin1'), 'Zürich €'],
    ['ISO-8859-1', Buffer.from('title,n\nZ\xfcrich,1\n', 'latin1'), 'Zürich'],
    ['"utf-16"', Buffer.from('title,n\nZürich 😀,1\n', 'utf16le'), 'Zürich 😀'],
    ['utf-16', Buffer.from('\ufefftitle,n\nZürich 😀,1\n', 'utf16le').swap16(), 'Zürich 😀'],
    ['utf-16be', Buffer.from('title,n\nZürich,1\n', 'utf16le').swap16(), 'Zürich'],
    ['us-ascii', Buffer.from('title,n\nZürich,1\n'), 'Zürich'],
    ['windows-1252', Buffer.from('\ufefftitle,n\nZürich,1\n'), 'Zürich'],
    ['windows-1251', Buffer.from('title,n\n\xcc\xe8\xf0,1\n', 'latin1'), 'Мир'],
  ];
  for (const [charset, body, title] of charsets)
    await t.test(`in the content type's charset ${charset}, ${title} [import §3.4]`, async () => {
      const { name } = await importCsv(admin, 'title,n\n');
      const headers = { 'Content-Type': `text/csv; header=present; charset=${charset}` };
      const answer = await sendImport(admin, name, { format: 'csv' }, body, headers);
      assert.equal(answer.status, 202, answer.text);
      await ended(admin, textAt(answer.json, 'data.id'));
      assert.deepEqual(await recordsOf(admin, name, 'title,n'), [{ title, n: 1 }]);
    });

  await t.test('in no unknown charset, and the parameter comes first [import §3.4]', async () => {
    const { name } = await importCsv(admin, 'title,n\n');
    const unknown = await sendImport(admin, name, { format: 'csv' }, 'n\n1\n', {
      'Content-Type': 'text/csv;charset=x1',
    });
    assert.equal(unknown.status, 415, unknown.text);
    assert.match(unknown.text, /charset x1/);
    const headers = { 'Content-Type': 'text/csv; charset=windows-1252' };
    const answer = await sendImport(admin, name, { format: 'csv', encoding: 'utf-8' }, 'title\nZürich\n', headers);
    await ended(admin, textAt(answer.json, 'data.id'));
    assert.deepEqual(await recordsOf(admin, name, 'title'), [{ title: 'Zürich' }]);
    const broken = Buffer.from('title\nZ\xfcrich\n', 'latin1');
    const utf8 = { 'Content-Type': 'text/csv; charset=utf-8' };
    assert.equal((await sendImport(admin, name, { format: 'csv' }, broken, utf8)).status, 400);
  });

  await t.test('in Latin-1, and refuses them as UTF-8 [import §3.4]', async () => {
    const body = Buffer.from('title,n\nZürich,1\n', 'latin1');
    const { name, records } = await importCsv(admin, body, { encoding: 'latin1' });
    assert.deepEqual(await records('title'), [{ title: 'Zürich' }]);
    const refused = await sendImport(admin, name, { format: 'csv' }, body);
    assert.equal(refused.status, 400);
    assert.match(textAt(refused.json, 'error'), /not utf-8/);
  });

  await t.test('and refuses those with more or fewer cells [import §3.1]', async () => {
    const { job } = await importCsv(admin, 'title,n\na,1\nb\nc,1,2\n"d, e"\nf,2\n');
    assert.deepEqual(countsOf(job), { total: 5, read: 5, done: 2, refused: 3 });
    assert.equal(
      await refusedRows(admin, job),
      [
        'title,n,_refused',
        'b,"has 1 cells, and the header has 2"',
        'c,1,2,"has 3 cells, and the header has 2"',
        '"d, e","has 1 cells, and the header has 2"',
        '',
      ].join('\r\n'),
    );
  });

  await t.test('and accepts refused rows after they are corrected [import §2.1]', async () => {
    const { name, job, records } = await importCsv(admin, 'title,n\n"a, ""b""",x\n');
    const corrected = (await refusedRows(admin, job)).replace('x', '5');
    const again = await imported(admin, name, { format: 'csv' }, corrected);
    assert.deepEqual(countsOf(again), { total: 1, read: 1, done: 1 });
    assert.deepEqual(await records('title,n'), [{ title: 'a, "b"', n: 5 }]);
  });
});

onOneProcess('a CSV import refuses a broken body, and does nothing', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'broken', type: 'base', fields });
  const big = 'x'.repeat(10 * 1024 * 1024);
  const rows: readonly [string, string, object, RegExp][] = [
    ['a quote that is never closed', 'title,n\na,1\nb,"2\nc,3\n', { row: 2, column: 2 }, /never closed/],
    ['a quote in a cell without quotes', 'title,n\na,1\nb"c,2\n', { row: 2, column: 1 }, /quote/],
    ['text after a closing quote', 'title,n\n"a"b,1\n', { row: 1, column: 1 }, /closing quote/],
    ['a cell of 10 MB', `title,n\na,1\n${big},2\n`, { row: 2, column: 1 }, /more than 1048576 bytes/],
    ['a quoted cell of 10 MB', `title,n\na,1\nb,2\n"${big}",3\n`, { row: 3, column: 1 }, /more than 1048576 bytes/],
    ['a million columns', `title,n\n${'1,'.repeat(500_000)}\n`, { row: 1, column: 10_001 }, /10000 columns/],
    ['a header of a million columns', `${','.repeat(1_000_000)}\n1,2\n`, { row: 0, column: 10_001 }, /10000 columns/],
    ['no header', '', { row: 0 }, /empty/],
  ];
  for (const [name, body, details, message] of rows)
    await t.test(`${name} [import §3.5]`, async () => {
      const answer = await sendImport(admin, 'broken', { format: 'csv' }, body || '\n');
      assert.deepEqual([answer.status, at(answer.json, 'code')], [422, 'body_broken'], answer.text);
      assert.deepEqual(at(answer.json, 'details'), details);
      assert.match(textAt(answer.json, 'error'), message);
    });
  await t.test('and the collection is empty', async () => {
    assert.deepEqual(await recordsOf(admin, 'broken', 'id'), []);
    assert.equal(at((await admin.get('/api/v1/jobs?collection=broken')).json, 'totalItems'), 0);
  });
  await t.test('but a one MiB row is read', async () => {
    const answer = await sendImport(admin, 'broken', { format: 'csv' }, `title,n\n${'y'.repeat(1_000_000)},2\n`);
    const job = await ended(admin, textAt(answer.json, 'data.id'));
    assert.deepEqual(countsOf(job), { total: 1, read: 1, done: 1 });
  });
});
