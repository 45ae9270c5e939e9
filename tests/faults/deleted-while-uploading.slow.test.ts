import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import pg from 'pg';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { startStack } from '../harness/stacks/stack.ts';

const boundary = 'in-the-middle';
const part = (head: string, content: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;

/** Starts a form whose file is complete. `finish` sends its end and returns the answer. */
function beginForm(method: string, url: string, content: string) {
  const sent = request(url, {
    method,
    agent: false,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve);
    sent.on('error', reject);
  });
  sent.write(part('name="doc"; filename="new.txt"', content));
  // The parser finds where a part ends at the beginning of the next.
  sent.write(`--${boundary}\r\n`);
  return {
    async finish(): Promise<{ readonly status: number; readonly json: unknown }> {
      sent.end(`Content-Disposition: form-data; name="title"\r\n\r\nnew\r\n--${boundary}--\r\n`);
      const answer = await answered;
      return { status: answer.statusCode ?? 0, json: JSON.parse(await text(answer)) };
    },
  };
}

test('an upload keeps its files when the record is deleted meanwhile [files §1.2]', async (t) => {
  await using stack = await startStack({ topology: 'one' });
  const { guest } = stack;
  const admin = await stack.admin();
  const fields = [
    { name: 'doc', type: 'file' },
    { name: 'title', type: 'text' },
  ];
  const { id: collectionId } = await admin.post('/api/v1/collections', { name: 'books', type: 'base', fields });
  const database = new pg.Client(stack.ground.databaseUrl);
  await database.connect();
  const path = '/api/v1/books/moby';
  const filesOf = () => {
    const folders = readdirSync(join(stack.ground.dataDirectory, 'uploads', String(collectionId)));
    return folders.includes('moby')
      ? readdirSync(join(stack.ground.dataDirectory, 'uploads', String(collectionId), 'moby'))
      : [];
  };
  const putOld = async () => {
    const put = await guest.send('PUT', path, multipart(file('doc', 'old.txt', 'old')));
    assert.equal(put.status, 201, put.text);
    return textAt(put.json, 'data.doc');
  };
  const removed = () =>
    eventually('the files of the deleted record are removed', async () => {
      const { rowCount } = await database.query('select from system.file_removals where name is null');
      return rowCount === 0;
    });
  const isWhole = async (json: unknown, content: string) => {
    const { status, text: body } = await guest.get(`/api/v1/files/books/moby/${textAt(json, 'data.doc')}`);
    assert.deepEqual([status, body], [200, content]);
    await guest.delete(path);
    await removed();
    await eventually('nothing is left', () => filesOf().length === 0);
  };

  await t.test('a PUT creates the record again', async () => {
    const old = await putOld();
    const form = beginForm('PUT', `${stack.url}${path}`, 'from a PUT');
    await eventually('the new file is stored', () => filesOf().length === 2);
    await guest.delete(path);
    await removed();
    assert.ok(!filesOf().includes(old));
    const { status, json } = await form.finish();
    assert.equal(status, 201, JSON.stringify(json));
    await isWhole(json, 'from a PUT');
  });

  await t.test('a PATCH updates the record that was created again', async () => {
    await putOld();
    const form = beginForm('PATCH', `${stack.url}${path}`, 'from a PATCH');
    await eventually('the new file is stored', () => filesOf().length === 2);
    await guest.delete(path);
    await removed();
    await putOld();
    const { status, json } = await form.finish();
    assert.equal(status, 200, JSON.stringify(json));
    await isWhole(json, 'from a PATCH');
  });

  await t.test("a refused upload's files are removed", async () => {
    await putOld();
    const form = beginForm('PATCH', `${stack.url}${path}`, 'refused');
    await eventually('the new file is stored', () => filesOf().length === 2);
    await guest.delete(path);
    await removed();
    assert.equal((await form.finish()).status, 404);
    await eventually('nothing is left', () => filesOf().length === 0);
  });
  await database.end();
});
