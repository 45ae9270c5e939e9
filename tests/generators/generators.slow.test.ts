import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { firstAdmin, startStack } from '../harness/stacks/stack.ts';
import { generators } from './generators.ts';
import { findMissing } from './tools.ts';

const writers = {
  name: 'writers',
  type: 'base',
  fields: [
    { name: 'name', type: 'text', required: true },
    { name: 'photo', type: 'file' },
  ],
};

const books = {
  name: 'books',
  type: 'base',
  history_enabled: true,
  fields: [
    { name: 'title', type: 'text', required: true, options: { max: 200 } },
    { name: 'kind', type: 'select', required: true, options: { values: ['novel', 'essay'] } },
    { name: 'code', type: 'text', options: { pattern: '^[a-z]{1,8}$', unique: true } },
    { name: 'stars', type: 'number', options: { min: 0, max: 5 } },
    { name: 'lent', type: 'bool' },
    { name: 'mail', type: 'email' },
    { name: 'site', type: 'url' },
    { name: 'printed', type: 'date' },
    { name: 'state', type: 'select', options: { values: ['a b', 'c-d', '3'] } },
    { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true, default: ['x'] } },
    { name: 'since', type: 'date', options: { default: '2026-01-01T00:00:00Z' } },
    { name: 'extra', type: 'json', options: { default: { a: [1] } } },
    { name: 'writer', type: 'relation', collection: 'writers' },
    { name: 'helpers', type: 'relation', collection: 'writers', options: { multiple: true, max: 3 } },
    { name: 'meta', type: 'json' },
    { name: 'place', type: 'geoPoint' },
    { name: 'embedding', type: 'vector', options: { dimensions: 3 } },
    { name: 'scan', type: 'file' },
    { name: 'papers', type: 'file', options: { multiple: true, protected: true } },
  ],
};

const members = { name: 'members', type: 'auth', fields: [{ name: 'nick', type: 'text', required: true }] };
const titles = { name: 'titles', type: 'view', view_query: 'select id, title, kind from books' };

test('generators make clients that compile and work', { timeout: 1_700_000 }, async (t) => {
  await using stack = await startStack({ topology: 'one' });
  const admin = await stack.admin();
  for (const collection of [writers, books, members, titles]) await admin.post('/api/v1/collections', collection);
  await eventually('the document has the collections', async () =>
    (await admin.get('/api/v1/openapi.json')).text.includes('titles.record'),
  );
  const signedIn = await stack.guest.post('/api/v1/admin/login', firstAdmin, 200);
  const token = textAt(signedIn, 'token');
  let created = 0;
  for (const { name, tools, reads, generate, compile, start } of generators) {
    const missing = tools.map(findMissing).find((why) => why !== undefined);
    await t.test(`${name} [http §12.7]`, { skip: missing ?? false }, async () => {
      const directory = await mkdtemp(join(tmpdir(), 'generators-'));
      try {
        const { text } = await admin.get(`/api/v1/openapi.json?version=${reads}`);
        await writeFile(join(directory, 'openapi.json'), text);
        await generate(directory);
        await compile(directory);
        created += 1;
        assert.equal((await start(directory, stack.url, token)).trim(), `${created} Notes`);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});
