import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileKey } from './file-key.ts';
import { idsStartOf } from './ids-start.ts';
import { openLocalStorage } from './local-storage.ts';
import type { Storage } from './storage.ts';

/** Waits until a condition holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + 30_000;
  while (performance.now() < endsAtMs && !(await holds())) await nextTurn();
}

suite('files in a local directory', () => {
  let directory: string;
  let storage: Storage;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'recordbus-storage-'));
    storage = await openLocalStorage(join(directory, 'uploads'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const keyIn = (collectionId: string, recordId: string, name: string) =>
    fileKey(collectionId, recordId, name) ?? assert.fail(`${name} is not a valid name`);
  const key = (name: string, recordId = 'r1') => keyIn('c1', recordId, name);
  const listed = async (collectionId: string, idsStart: string) => {
    const names: string[] = [];
    for await (const { segments } of storage.list(collectionId, idsStart)) names.push(segments.slice(1).join('/'));
    return names.sort();
  };
  const drafts = () => readdir(join(directory, 'uploads', '.drafts'));

  test('a stored file is found and read, whole and in part', async () => {
    assert.deepEqual(await storage.put(key('a.txt'), Readable.from(['hello ', 'world'])), { sizeBytes: 11 });
    assert.deepEqual(await storage.find(key('a.txt')), { sizeBytes: 11 });
    assert.equal(await text((await storage.open(key('a.txt'))) ?? assert.fail('no file')), 'hello world');
    const part = await storage.open(key('a.txt'), { start: 4, end: 6 });
    assert.equal(await text(part ?? assert.fail('no file')), 'o w');
    assert.deepEqual(await drafts(), []);
  });

  test("the machine's other users can neither read files nor list their names", async () => {
    await storage.put(key('salaries.txt', 'r9'), Readable.from(['secret']));
    for (const path of ['', '.drafts', 'c1', 'c1/r9', 'c1/r9/salaries.txt']) {
      const { mode } = await stat(join(directory, 'uploads', path));
      assert.equal(mode & 0o077, 0, path);
    }
  });

  test('an empty file exists', async () => {
    assert.deepEqual(await storage.put(key('empty'), Readable.from([])), { sizeBytes: 0 });
    assert.equal((await buffer((await storage.open(key('empty'))) ?? assert.fail('no file'))).length, 0);
  });

  test('a file that was not stored does not exist', async () => {
    assert.equal(await storage.find(key('missing')), undefined);
    assert.equal(await storage.open(key('missing')), undefined);
  });

  test('a stream that breaks leaves no file and no draft', async () => {
    const broken = Readable.from(
      (function* () {
        yield 'half';
        throw new Error('the client went away');
      })(),
    );
    await assert.rejects(storage.put(key('broken'), broken), /the client went away/);
    assert.equal(await storage.find(key('broken')), undefined);
    assert.deepEqual(await drafts(), []);
  });

  test("a killed process's drafts, even for previews, are removed with the file", async () => {
    const unfinished = ['half', 'half.thumb-10x10', 'other'].map((name) => {
      const bytes = new Readable({ read() {} });
      bytes.push('x');
      return { bytes, outcome: storage.put(key(name), bytes).catch(() => 'gone') };
    });
    await until(async () => (await drafts()).length === 3);
    await storage.delete(key('half'));
    assert.equal((await drafts()).length, 1);
    for (const { bytes } of unfinished) bytes.push(null);
    assert.deepEqual(await Promise.all(unfinished.map(({ outcome }) => outcome)), ['gone', 'gone', { sizeBytes: 1 }]);
  });

  for (const [size, bytes, draftCount] of [
    ['small', 1, 0],
    ['large', 300_000, 1],
  ] as const)
    test(`a ${size} announced file has its name only once it is announced`, async () => {
      const told = key('told', `r5-${size}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      const content = Readable.from([Buffer.alloc(bytes, 'x')]);
      const putting = storage.put(told, content, { announced: promise });
      await until(async () => content.readableEnded && (await drafts()).length === draftCount);
      assert.deepEqual([await storage.find(told), (await drafts()).length], [undefined, draftCount]);
      resolve();
      assert.deepEqual([await putting, await storage.find(told)], [{ sizeBytes: bytes }, { sizeBytes: bytes }]);
      assert.deepEqual(await drafts(), []);
    });

  test('a file in several pieces has all its bytes in order', async () => {
    const chunks = Array.from({ length: 9 }, (_, index) => Buffer.alloc(70_001, index));
    const announced = Promise.resolve();
    assert.deepEqual(await storage.put(key('long', 'r8'), Readable.from(chunks), { announced }), {
      sizeBytes: 630_009,
    });
    const stored = await buffer((await storage.open(key('long', 'r8'))) ?? assert.fail('no file'));
    assert.ok(stored.equals(Buffer.concat(chunks)));
  });

  test('a file whose announcement fails is not stored', async () => {
    const announced = Promise.reject(new Error('the database is away'));
    for (const bytes of ['x', Buffer.alloc(300_000)]) {
      const put = storage.put(key('untold', 'r6'), Readable.from([bytes]), { announced });
      await assert.rejects(put, /database is away/);
      assert.deepEqual([await storage.find(key('untold', 'r6')), await drafts()], [undefined, []]);
    }
  });

  test('a file is never replaced', async () => {
    await storage.put(key('once'), Readable.from(['first']));
    for (const options of [{}, { announced: Promise.resolve() }])
      await assert.rejects(storage.put(key('once'), Readable.from(['second']), options), { code: 'EEXIST' });
    assert.equal(await text((await storage.open(key('once'))) ?? assert.fail('no file')), 'first');
  });

  test('a deletion removes the file and its empty folder, and can be repeated', async () => {
    await storage.put(key('x', 'r2'), Readable.from(['x']));
    await storage.put(key('y', 'r2'), Readable.from(['y']));
    await storage.delete(key('x', 'r2'));
    assert.equal(await storage.find(key('x', 'r2')), undefined);
    assert.deepEqual(await storage.find(key('y', 'r2')), { sizeBytes: 1 });
    await storage.delete(key('y', 'r2'));
    await storage.delete(key('y', 'r2'));
    assert.equal((await readdir(join(directory, 'uploads', 'c1'))).includes('r2'), false);
  });

  test('files in separate folders are listed by how their ids begin', async () => {
    for (const recordId of ['start-1', 'start-2', 'other']) await storage.put(key('a', recordId), [Buffer.from('x')]);
    assert.deepEqual(await listed('c1', 'start-'), ['start-1/a', 'start-2/a']);
    assert.deepEqual(await listed('../c1', ''), []);
  });

  test("a record's files are deleted, except those to keep", async () => {
    for (const name of ['a', 'b', 'c']) await storage.put(key(name, 'r4'), Readable.from([name]));
    await storage.deleteRecord('c1', 'r4', new Set(['b']));
    assert.deepEqual(await readdir(join(directory, 'uploads', 'c1', 'r4')), ['b']);
    await storage.deleteRecord('c1', 'r4');
    await storage.deleteRecord('c1', 'r4');
    assert.equal((await readdir(join(directory, 'uploads', 'c1'))).includes('r4'), false);
  });

  suite('records whose ids were created together', () => {
    const posts = '01938f5d-0000-7000-8000-000000000000';
    const [one, two] = ['01938f5e-7a10-7000-8000-000000000001', '01938f5e-7a20-7000-8000-000000000002'] as const;
    const folder = () => join(directory, 'uploads', posts, '01938f5e-7a');
    const key = (name: string, recordId: string) => keyIn(posts, recordId, name);

    test('share a folder', async () => {
      for (const id of [one, two]) await storage.put(key('a', id), Readable.from([id]));
      assert.deepEqual((await readdir(folder())).sort(), [`${one}+a`, `${two}+a`]);
      for (const id of [one, two])
        assert.equal(await text((await storage.open(key('a', id))) ?? assert.fail('no file')), id);
    });

    test("keep their files when another record's are deleted, and the last one removes the folder", async () => {
      for (const id of [one, two]) await storage.put(key('b.thumb-1x1', id), Readable.from([id]));
      await storage.put(key('b', one), Readable.from([one]));
      await storage.delete(key('b', one));
      assert.deepEqual((await readdir(folder())).sort(), [`${one}+a`, `${two}+a`, `${two}+b.thumb-1x1`]);
      await storage.deleteRecord(posts, two, new Set(['a']));
      assert.deepEqual((await readdir(folder())).sort(), [`${one}+a`, `${two}+a`]);
      for (const id of [one, two]) await storage.deleteRecord(posts, id);
      await assert.rejects(readdir(folder()), { code: 'ENOENT' });
    });

    test('may have files from before, in separate folders', async () => {
      const former = join(directory, 'uploads', posts, one);
      await mkdir(former);
      for (const name of ['old', 'old.thumb-1x1', 'older']) await writeFile(join(former, name), name);
      await storage.put(key('new.thumb-1x1', one), Readable.from(['new']));
      assert.deepEqual(await storage.find(key('old', one)), { sizeBytes: 3 });
      const part = await storage.open(key('older', one), { start: 3, end: 4 });
      assert.equal(await text(part ?? assert.fail('no file')), 'er');
      const previews = [];
      for await (const { key: found } of storage.listPreviews()) previews.push(found.segments.slice(1).join('/'));
      assert.deepEqual(previews.sort(), [`${one}/new.thumb-1x1`, `${one}/old.thumb-1x1`]);
      await storage.delete(key('old', one));
      assert.deepEqual(await readdir(former), ['older']);
      await storage.deleteRecord(posts, one);
      for (const path of [former, folder()]) await assert.rejects(readdir(path), { code: 'ENOENT' });
    });

    test('have a folder whose name another record may have as its id', async () => {
      const short = one.slice(0, 11);
      for (const recordId of [one, short]) await storage.put(key('a', recordId), Readable.from([recordId]));
      await storage.deleteRecord(posts, short);
      assert.deepEqual(
        [await storage.find(key('a', short)), await storage.find(key('a', one))],
        [undefined, { sizeBytes: 36 }],
      );
      await storage.deleteRecord(posts, one);
    });

    test('are listed by how their ids begin', async () => {
      for (const name of ['a', 'a.thumb-1x1']) await storage.put(key(name, one), Readable.from(['x']));
      await storage.put(key('other', `01938f5f${one.slice(8)}`), Readable.from(['x']));
      await storage.put(key('b', two), [Buffer.from('x')]);
      assert.deepEqual(await listed(posts, idsStartOf(one)), [`${one}/a`, `${two}/b`]);
      for (const id of [one, two, `01938f5f${one.slice(8)}`]) await storage.deleteRecord(posts, id);
    });

    test('outside collections, such as backup archives, have separate folders', async () => {
      await storage.put(keyIn('archives', one, 'a'), Readable.from(['a']));
      assert.deepEqual(await readdir(join(directory, 'uploads', 'archives', one)), ['a']);
    });
  });

  test('parallel puts and deletes for one record lose nothing', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `f${index}`);
    await Promise.all(
      names.map(async (name, index) => {
        await storage.put(key(name, 'r3'), Readable.from([name]));
        if (index % 2) await storage.delete(key(name, 'r3'));
      }),
    );
    for (const [index, name] of names.entries())
      assert.equal((await storage.find(key(name, 'r3'))) !== undefined, index % 2 === 0, name);
  });
});
