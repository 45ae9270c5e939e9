import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onOneProcess } from '../harness/stacks/target.ts';

const run = promisify(execFile);

/** Comma, quotation mark, UTF-8, from the first line. */
const csvFilter = 'CSV:44,34,76,1';

const titles = [
  '=1+1',
  '=HYPERLINK("http://example.org","x")',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  '\t=1+1',
  '\r=1+1',
  "'=1+1",
  'a "quoted"\r\nline, and more',
  'ünd 😀',
];

/** Opens CSV in LibreOffice and returns a flat document, in which executable cells have a formula. */
async function openInSpreadsheet(csv: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-test-spreadsheet-'));
  try {
    await writeFile(join(directory, 'export.csv'), csv);
    const profile = `-env:UserInstallation=file://${join(directory, 'profile')}`;
    const convert = ['--headless', '--convert-to', 'fods', `--infilter=${csvFilter}`, '--outdir', directory];
    await run('soffice', [profile, ...convert, join(directory, 'export.csv')], { timeout: 120_000 });
    return await readFile(join(directory, 'export.fods'), 'utf8');
  } finally {
    await rm(directory, { recursive: true, maxRetries: 5 });
  }
}

const isInstalled = async (): Promise<boolean> =>
  run('soffice', ['--version'], { timeout: 60_000 }).then(
    () => true,
    () => false,
  );

onOneProcess('a spreadsheet opens an export and runs nothing in it [export §3.4]', async (t, target) => {
  if (!(await isInstalled())) return t.skip('LibreOffice is not installed: apt-get install libreoffice-calc-nogui');
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'cells', type: 'base', fields: [{ name: 'title', type: 'text' }] });
  for (const title of titles) await admin.create('cells', { title });
  const path = '/api/v1/records/cells/export?fields=title&sort=id';

  const document = await openInSpreadsheet((await admin.get(path)).text);
  assert.doesNotMatch(document, /table:formula/);
  assert.match(document, /ünd 😀/);
  assert.match(document, />a "quoted"|>a &quot;quoted&quot;/);
  assert.equal(document.match(/<table:table-row/g)?.length, titles.length + 1);

  const raw = await openInSpreadsheet((await admin.get(`${path}&raw=1`)).text);
  assert.match(raw, /table:formula="of:=1\+1"/, 'without marks the spreadsheet runs cells');
});
