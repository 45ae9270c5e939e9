import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { countsOf, imported, recordsOf, refusedRows } from './import-jobs.ts';

const fields = [
  { name: 'title', type: 'text' },
  { name: 'n', type: 'number' },
  { name: 'ok', type: 'bool' },
  { name: 'at', type: 'date' },
  { name: 'kind', type: 'select', options: { values: ['a;b', 'c,d'] } },
  { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true } },
  { name: 'meta', type: 'json' },
  { name: 'place', type: 'geoPoint' },
];

const records = [
  {
    title: 'Größe; "groß", 😀',
    n: -1.5,
    ok: true,
    at: 1705320000,
    kind: 'a;b',
    tags: ['x', 'y'],
    meta: { a: [1, ';'] },
  },
  {
    title: 'two\r\nlines',
    n: 12,
    ok: false,
    at: -2,
    kind: 'c,d',
    tags: [],
    meta: 'text',
    place: { lat: 48.2, lng: 16.4 },
  },
  { title: '=1+1', n: 0, ok: true, at: '9999-12-31', tags: ['y'] },
  { title: '007', n: 1e21, ok: null, at: null, meta: [] },
  { title: ' spaces ' },
];

/** Parses CSV as RFC 4180 has it. A spreadsheet makes no difference between an empty cell and an empty text. */
function cellsOf(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = '', end = ''] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    if (row.length > 1) rows.push(row);
    row = [];
  }
  return rows;
}

interface Style {
  readonly separator: string;
  readonly encode: (text: string) => Buffer;
  readonly quotesAll?: boolean;
  readonly first?: string;
  readonly emptyColumns?: number;
  readonly contentType?: string;
}

/** Writes cells as a spreadsheet saves them: CRLF, TRUE and FALSE, and its own quotes. */
function save(
  rows: readonly string[][],
  { separator, encode, quotesAll, first = '', emptyColumns = 0 }: Style,
): Buffer {
  const cell = (text: string): string => {
    const shown = text === 'true' || text === 'false' ? text.toUpperCase() : text;
    const isSpecial = shown.includes(separator) || /["\r\n]/.test(shown) || (quotesAll && shown !== '');
    return isSpecial ? `"${shown.replaceAll('"', '""')}"` : shown;
  };
  const lines = rows.map((row) => [...row, ...Array(emptyColumns).fill('')].map(cell).join(separator));
  return encode(`${first}${lines.join('\r\n')}\r\n`);
}

const utf8 = (text: string): Buffer => Buffer.from(text);
const styles: Readonly<Record<string, Style>> = {
  'Excel, CSV UTF-8': { separator: ';', encode: (text) => utf8(`\ufeff${text}`) },
  'Excel, CSV UTF-8 with a line that names the separator': {
    separator: ';',
    first: 'sep=;\r\n',
    encode: (text) => utf8(`\ufeff${text}`),
  },
  'Excel, Unicode text': { separator: '\t', encode: (text) => Buffer.from(`\ufeff${text}`, 'utf16le') },
  'LibreOffice, every text in quotes': { separator: ',', quotesAll: true, encode: utf8 },
  'a sheet with empty columns': { separator: ';', emptyColumns: 2, encode: utf8 },
};

/** The collection's records without their ids and times. */
const shown = (client: Client, name: string) => recordsOf(client, name, fields.map((field) => field.name).join(','));

onOneProcess('an export that a spreadsheet saved imports as it was', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'sheets', type: 'base', fields });
  for (const record of records) await admin.create('sheets', record);
  const before = await shown(admin, 'sheets');

  for (const [bom, name] of ['0', '1'].map((bom) => [bom, `bom=${bom}`] as const))
    await t.test(`with ${name} [export §3.1]`, async () => {
      const { text, status } = await admin.get(`/api/v1/records/sheets/export?bom=${bom}`);
      assert.equal(status, 200);
      assert.ok(text.replace(/^\ufeff/, '').startsWith('id,title,n,ok'), text);
      // An answer's text has no mark.
      const answer = await fetch(new URL(`/api/v1/records/sheets/export?bom=${bom}`, target.url));
      const [first] = new Uint8Array(await answer.arrayBuffer());
      assert.equal(first === 0xef, bom === '1');
    });

  await t.test('bom is only for CSV [export §1.2]', async () => {
    const refused = await admin.get('/api/v1/records/sheets/export?bom=1&format=json');
    assert.equal(refused.status, 400, refused.text);
  });

  let count = 0;
  for (const [name, style] of Object.entries(styles))
    await t.test(`${name} [export §3.5]`, async () => {
      count += 1;
      const copy = `sheets_${count}`;
      await admin.post('/api/v1/collections', { name: copy, type: 'base', fields });
      const exported = (await admin.get('/api/v1/records/sheets/export?bom=1')).text.replace('\ufeff', '');
      const saved = save(cellsOf(exported), style);
      const job = await imported(admin, copy, { format: 'csv', keep: 'id,created,updated' }, saved);
      const counts = { total: records.length, read: records.length, done: records.length };
      assert.deepEqual(countsOf(job), counts, await refusedRows(admin, job));
      assert.deepEqual(await shown(admin, copy), before);
      const again = (await admin.get(`/api/v1/records/${copy}/export?bom=1`)).text.replace('\ufeff', '');
      assert.equal(again, exported);
    });
});
