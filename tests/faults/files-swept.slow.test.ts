import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import type { Client } from '../harness/clients/client.ts';
import { file, multipart, type Part } from '../harness/clients/multipart.ts';
import { pngOf } from '../harness/clients/png.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';

/** Returns how many files the storage has. */
function storedFiles({ ground }: Stack): number {
  const directory = join(ground.dataDirectory, 'uploads');
  if (!existsSync(directory)) return 0;
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

const store = async (client: Client, path: string, ...parts: readonly Part[]): Promise<string> => {
  const { json, status, text } = await client.send('POST', path, multipart(...parts));
  assert.equal(status, 201, text);
  return textAt(json, 'data.id');
};

async function connect({ ground }: Stack) {
  const client = new pg.Client(ground.databaseUrl);
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

/** Starts an upload and leaves it unfinished. Its connection breaks when the service dies. */
function beginUpload(url: string): void {
  const boundary = 'in-the-middle';
  const upload = request(url, {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  });
  upload.on('error', () => {});
  upload.on('response', (response) => response.resume());
  upload.write(`--${boundary}\r\nContent-Disposition: form-data; name="doc"; filename="a.txt"\r\n\r\n`);
  upload.write('x'.repeat(300_000));
}

test('unneeded files are removed from the storage [files §1.2]', async (t) => {
  await using stack = await startStack({ topology: 'processes' });
  const { guest } = stack;
  const admin = await stack.admin();
  const doc = { name: 'doc', type: 'file' };
  await admin.post('/api/v1/collections', { name: 'shelves', type: 'base', fields: [doc] });
  const shelf = { name: 'shelf', type: 'relation', collection: 'shelves', options: { cascade: 'cascade' } };
  await admin.post('/api/v1/collections', { name: 'books', type: 'base', fields: [doc, shelf] });
  const settled = (count: number) => eventually(`${count} files`, () => storedFiles(stack) === count);

  await t.test("a cascade's deleted records' files", async () => {
    const id = await store(guest, '/api/v1/shelves', file('doc', 's.txt', 'S'));
    const part = { name: 'shelf', content: id };
    for (const name of ['a.txt', 'b.txt']) await store(guest, '/api/v1/books', part, file('doc', name, 'B'));
    assert.equal(storedFiles(stack), 3);
    await guest.delete(`/api/v1/shelves/${id}`);
    await settled(0);
  });

  await t.test('files from an upload whose service was killed, after a time limit', async () => {
    const killed = stack.services.records?.pid ?? 0;
    await using database = await connect(stack);
    await eventually('the earlier sweep has ended', async () => {
      const { rows } = await database.client.query('select from system.file_removals');
      return rows.length === 0;
    });
    beginUpload(`${stack.url}/api/v1/books`);
    await settled(1);
    await eventually('the upload is announced', async () => {
      const { rows } = await database.client.query('select from system.file_removals');
      return rows.length === 1;
    });
    process.kill(killed, 'SIGKILL');
    await eventually('the service runs again', () => stack.services.records?.pid !== killed);
    assert.equal(storedFiles(stack), 1);
    // As if 15 minutes had passed, after which an idle upload is abandoned.
    const { rowCount } = await database.client.query('update system.file_removals set due_at = now()');
    assert.equal(rowCount, 1);
    await settled(0);
    const list = await eventually('the list is answered', async () => {
      const answer = await guest.get('/api/v1/books');
      return answer.status === 200 && answer;
    });
    assert.equal(at(list.json, 'totalItems'), 0);
  });

  await t.test("a dropped collection's files", async () => {
    await store(guest, '/api/v1/books', file('doc', 'c.txt', 'C'));
    await admin.delete('/api/v1/collections/books');
    await settled(0);
  });
});

test('stored previews have a size limit and are deleted with their image [files §5.4]', async () => {
  await using stack = await startStack({ topology: 'one' });
  const admin = await stack.admin();
  const photo = { name: 'photo', type: 'file', options: { thumbs: ['300x300'] } };
  await admin.post('/api/v1/collections', { name: 'photos', type: 'base', fields: [photo] });
  await admin.patch('/api/v1/admin/settings', { 'files.thumbs_max_bytes': String(1024 ** 2) });
  // A noise image's preview has 270 kB, so three fit.
  const image = pngOf(330, 330, { isNoise: true });
  const previews = () =>
    readdirSync(join(stack.ground.dataDirectory, 'uploads'), { recursive: true }).filter((name) =>
      /\.thumb-/.test(String(name)),
    );
  const records: { id: string; url: string }[] = [];
  for (let count = 0; count < 8; count += 1) {
    const answer = await stack.guest.send('POST', '/api/v1/photos', multipart(file('photo', 'a.png', image)));
    const id = textAt(answer.json, 'data.id');
    const url = `/api/files/photos/${id}/${textAt(answer.json, 'data.photo')}?thumb=300x300`;
    records.push({ id, url });
    assert.equal((await stack.guest.get(url)).status, 200);
  }
  await eventually('the oldest are deleted', () => previews().length <= 3);
  for (const { url } of records) assert.equal((await stack.guest.get(url)).status, 200, 'previews are created again');
  for (const { id } of records) await admin.delete(`/api/v1/photos/${id}`);
  await eventually('all are deleted', () => previews().length === 0);
  await using database = await connect(stack);
  await eventually('their rows are deleted', async () => {
    const { rows } = await database.client.query('select from system.previews');
    return rows.length === 0;
  });
});
