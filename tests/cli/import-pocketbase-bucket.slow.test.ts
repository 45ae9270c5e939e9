import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { createPocketBaseData, type PocketBaseData } from '../harness/pocketbase/data.ts';
import { createMoveFolder, startTarget } from '../harness/pocketbase/move.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { id } from './pocketbase-notes.ts';

/** A real server for the protocol: go install github.com/versity/versitygw/cmd/versitygw@latest */
const gateway = process.env.TEST_VERSITYGW;
const skip = gateway === undefined && 'TEST_VERSITYGW is not set';

const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };
const names = ['a_1234567890.txt', 'b ü%20_1234567890.txt', 'gone_1234567890.txt'];
const big = 'x'.repeat(3_000_000);

function fill(data: PocketBaseData): void {
  data.define({
    id: 'pbc_docs',
    name: 'docs',
    fields: [{ name: 'files', type: 'file', maxSelect: 9 }],
    rules: { view: '' },
  });
  data.insert('docs', { id: id('one'), files: JSON.stringify(names), ...times });
  data.store('pbc_docs', id('one'), names[0] ?? '', big);
  data.store('pbc_docs', id('one'), names[1] ?? '', 'bytes of b');
}

/** Starts a store with the bucket `pb-files`, which has what the directory has. */
async function startBucket(tidying: AsyncDisposableStack, folder: string): Promise<string> {
  const place = join(folder, 'buckets');
  mkdirSync(join(place, 'pb-files'), { recursive: true });
  cpSync(join(folder, 'pb_data', 'storage'), join(place, 'pb-files'), { recursive: true });
  rmSync(join(folder, 'pb_data', 'storage'), { recursive: true });
  const address = `127.0.0.1:${await findFreePort()}`;
  const args = ['--access', 'testing', '--secret', 'testing-secret', '--port', address, 'posix', place];
  const server = spawn(gateway ?? '', args, { stdio: 'ignore' });
  tidying.defer(async () => {
    server.kill();
    if (server.exitCode === null) await once(server, 'exit');
  });
  await eventually('the store answers', () =>
    fetch(`http://${address}`).then(
      () => true,
      () => false,
    ),
  );
  return `http://${address}`;
}

test('files come from the bucket that PocketBase keeps them in [move §2.5]', { skip }, async () => {
  await using tidying = new AsyncDisposableStack();
  const folder = createMoveFolder(tidying);
  const data = createPocketBaseData(join(folder, 'pb_data'));
  tidying.defer(async () => data.close());
  fill(data);
  const endpoint = await startBucket(tidying, folder);
  const s3 = {
    enabled: true,
    bucket: 'pb-files',
    region: 'us-east-1',
    endpoint,
    accessKey: 'testing',
    forcePathStyle: true,
  };
  const keep = (secret: string) =>
    data.database
      .prepare("update _params set value = ? where id = 'settings'")
      .run(JSON.stringify({ s3: { ...s3, secret } }));
  const { stack, move } = await startTarget(tidying, folder);

  const none = await move('--files', 's3');
  assert.equal(none.code, 1);
  assert.match(none.stderr, /keeps its files in its directory: leave out --files/);

  keep('wrong');
  const without = await move();
  assert.equal(without.code, 0, without.stderr);
  assert.ok(listAt(without.json, 'not_taken').some((text) => /--files s3/.test(String(text))));
  const refused = await move('--files', 's3');
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stderr, /The bucket pb-files at http.* cannot be read/);

  keep('testing-secret');
  const { code, json, stderr } = await move('--files', 's3');
  assert.equal(code, 0, stderr);
  const docs = listAt(json, 'collections')[0];
  assert.deepEqual([at(docs, 'files'), at(docs, 'files_missing')], [2, 1]);
  assert.deepEqual(at(docs, 'missing_files'), [`${id('one')}/${names[2]}`]);
  const stored = listAt((await stack.guest.get(`/api/v1/docs/${id('one')}`)).json, 'data.files').map(String);
  const bytes = async (name = '') => (await stack.guest.get(`/api/v1/files/docs/${id('one')}/${name}`)).text;
  assert.equal(stored[0], names[0]);
  assert.equal(await bytes(stored[0]), big);
  assert.equal(await bytes(stored[1]), 'bytes of b');
  const again = await move('--files', 's3');
  assert.equal(at(listAt(again.json, 'collections')[0], 'files'), 0);
});
