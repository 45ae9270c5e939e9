import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { runExamples } from '../harness/documented.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { onOneProcess, stackEnvironment } from '../harness/target.ts';

const page = readFileSync(new URL('../../docs/extensions.md', import.meta.url), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-extensions-'));

/** The extensions of the page as files: each block of code says in its first line what it is called. */
for (const [, name = '', source = ''] of page.matchAll(/^```ts\n\/\/ extensions\/(\S+)\n(.*?)\n```$/gms))
  writeFileSync(join(directory, name), source);
for (const name of ['guestbook.ts', '_words.ts'])
  cpSync(new URL(`../../examples/extensions/${name}`, import.meta.url), join(directory, name));
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

onOneProcess('the page on extensions is right', (t, target) => runExamples(t, target, 'extensions.md'));

onOneProcess('the guestbook of examples/extensions works', async (_t, target) => {
  const admin = await target.admin();
  const fields = ['name', 'message'].map((name) => ({ name, type: 'text' }));
  await admin.post('/api/v1/collections', { name: 'guestbook', type: 'base', fields });
  const sign = (message: string) => target.guest.send('POST', '/api/v1/guestbook', { body: { name: ' ', message } });
  const signed = await sign('What a lovely place');
  assert.equal(at(signed.json, 'data.name'), 'somebody');
  assert.equal((await sign('What rubbish')).status, 422);
  await eventually('the entry is counted', async () => {
    const { json } = await target.guest.get('/api/x/guestbook/entries');
    return at(json, 'data.entries') === 1 || undefined;
  });
});
