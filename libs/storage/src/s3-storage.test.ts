import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type FileKey, fileKey, previewKey } from './file-key.ts';
import { openS3Storage } from './s3-storage.ts';
import type { Storage } from './storage.ts';

/** A real server for the protocol: go install github.com/versity/versitygw/cmd/versitygw@latest */
const gateway = process.env.TEST_VERSITYGW;
const skip = gateway === undefined && 'TEST_VERSITYGW is not set';

const credentials = { accessKeyId: 'testing', secretAccessKey: 'testing-secret' };

suite('files in an S3-compatible store', { skip }, () => {
  let directory: string;
  let server: ChildProcess;
  let storage: Storage;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'recordbus-s3-'));
    await mkdir(join(directory, 'files'));
    const port = await freePort();
    const { accessKeyId, secretAccessKey } = credentials;
    const address = `127.0.0.1:${port}`;
    const args = ['--access', accessKeyId, '--secret', secretAccessKey, '--port', address, 'posix', directory];
    server = spawn(gateway ?? '', args, { stdio: 'ignore' });
    const endpoint = `http://${address}`;
    for (let left = 100; !(await fetch(endpoint).catch(() => undefined)); left -= 1) {
      assert.ok(left > 0, 'the server does not answer');
      await setTimeout(100);
    }
    storage = openS3Storage({ bucket: 'files', prefix: 'here', endpoint, region: 'us-east-1', credentials });
  });
  after(async () => {
    server.kill();
    await once(server, 'exit');
    await rm(directory, { recursive: true });
  });

  const key = (name: string, recordId = 'r1') =>
    fileKey('c1', recordId, name) ?? assert.fail(`${name} is not a valid name`);
  const read = async (at: FileKey, start?: number, end?: number) => {
    const range = start === undefined || end === undefined ? undefined : { start, end };
    return text((await storage.open(at, range)) ?? assert.fail('no file'));
  };

  test("files are listed by how their records' ids begin, without previews", async () => {
    const preview = previewKey(key('a', 'start-1'), '1x1') ?? assert.fail('no key');
    for (const at of [key('a', 'start-1'), preview, key('b', 'start-2'), key('c', 'other')])
      await storage.put(at, Readable.from(['x']));
    const found: string[] = [];
    for await (const { segments } of storage.list('c1', 'start-')) found.push(segments.join('/'));
    assert.deepEqual(found.sort(), ['c1/start-1/a', 'c1/start-2/b']);
    for (const id of ['start-1', 'start-2', 'other']) await storage.deleteRecord('c1', id);
  });

  test('a file whose name has letters of any script is stored, listed and deleted', async () => {
    const names = ['über_日本語.txt', 'отчёт.док', 'तस्वीर_१.jpg'];
    for (const name of names) await storage.put(key(name, 'scripts'), Readable.from([name]));
    const found: string[] = [];
    for await (const { segments } of storage.list('c1', 'scripts')) found.push(segments[2]);
    assert.deepEqual(found.sort(), names.toSorted());
    for (const name of names) {
      assert.equal(await read(key(name, 'scripts')), name);
      await storage.delete(key(name, 'scripts'));
      assert.equal(await storage.find(key(name, 'scripts')), undefined);
    }
  });

  test('a stored file is found and read, whole and in part', async () => {
    assert.deepEqual(await storage.put(key('a.txt'), Readable.from(['hello ', 'world'])), { sizeBytes: 11 });
    assert.deepEqual(await storage.find(key('a.txt')), { sizeBytes: 11 });
    assert.equal(await read(key('a.txt')), 'hello world');
    assert.equal(await read(key('a.txt'), 4, 6), 'o w');
  });

  test('a file in several parts and an empty one are stored', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const parts = Readable.from(Array(20).fill(chunk), { objectMode: false });
    assert.deepEqual(await storage.put(key('large'), parts), { sizeBytes: 20 * chunk.length });
    assert.deepEqual(await storage.find(key('large')), { sizeBytes: 20 * chunk.length });
    assert.deepEqual(await storage.put(key('empty'), Readable.from([])), { sizeBytes: 0 });
    assert.equal(await read(key('empty')), '');
  });

  test('a file that was not stored, or whose stream has failed, does not exist', async () => {
    assert.equal(await storage.find(key('missing')), undefined);
    assert.equal(await storage.open(key('missing')), undefined);
    const broken = Readable.from(
      (function* () {
        yield Buffer.from('half');
        throw new Error('the client went away');
      })(),
    );
    await assert.rejects(storage.put(key('broken'), broken), /the client went away/);
    assert.equal(await storage.find(key('broken')), undefined);
  });

  test('deletes a file with its previews only, and a record or a collection with all their files', async () => {
    const at = key('p', 'r2');
    const preview = previewKey(at, '10x10') ?? assert.fail('no key');
    for (const one of [at, preview, key('p.txt', 'r2'), key('q', 'r20')]) await storage.put(one, Readable.from(['x']));
    await storage.delete(at);
    await storage.delete(at);
    assert.deepEqual(
      await Promise.all([at, preview, key('p.txt', 'r2')].map(async (one) => (await storage.find(one)) !== undefined)),
      [false, false, true],
    );
    await storage.deleteRecord('c1', 'r2', new Set(['p.txt']));
    assert.deepEqual(await storage.find(key('p.txt', 'r2')), { sizeBytes: 1 });
    await storage.deleteRecord('c1', 'r2');
    assert.equal(await storage.find(key('p.txt', 'r2')), undefined);
    assert.deepEqual(await storage.find(key('q', 'r20')), { sizeBytes: 1 });
    await storage.deleteCollection('c1');
    assert.equal(await storage.find(key('q', 'r20')), undefined);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address ? address.port : assert.fail('no port');
}
