import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFlushFolder } from './flush-folders.ts';

/** A flush that ends when the test says so. */
function controlled() {
  const begun: { readonly path: string; readonly end: PromiseWithResolvers<string | undefined> }[] = [];
  const flush = createFlushFolder((path) => {
    const end = Promise.withResolvers<string | undefined>();
    begun.push({ path, end });
    return end.promise;
  });
  return { flush, begun, paths: () => begun.map(({ path }) => path) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('flushes that are requested during a flush share the next one', async () => {
  const { flush, begun, paths } = controlled();
  const ended: string[] = [];
  const ask = (name: string) => flush('a').then(() => ended.push(name));
  const all = [ask('first'), ask('second'), ask('third')];
  await turn();
  assert.deepEqual(paths(), ['a']);
  begun[0]?.end.resolve(undefined);
  await turn();
  assert.deepEqual([ended, paths()], [['first'], ['a', 'a']]);
  all.push(ask('fourth'));
  begun[1]?.end.resolve(undefined);
  await turn();
  assert.deepEqual(
    [ended, paths()],
    [
      ['first', 'second', 'third'],
      ['a', 'a', 'a'],
    ],
  );
  begun[2]?.end.resolve(undefined);
  await Promise.all(all);
});

test('folders do not wait for each other, and a failed flush fails only those that share it', async () => {
  const { flush, begun, paths } = controlled();
  const [first, second, third] = [flush('a'), flush('a'), flush('b')];
  assert.deepEqual(paths(), ['a', 'b']);
  begun[0]?.end.reject(new Error('the disk is gone'));
  await assert.rejects(first, /the disk is gone/);
  await turn();
  begun[1]?.end.resolve(undefined);
  begun[2]?.end.resolve(undefined);
  await Promise.all([second, third]);
});

test('a flush tells a folder from a later one with its name', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-flush-'));
  const folder = join(directory, 'folder');
  const flush = createFlushFolder();
  assert.equal(await flush(folder), undefined);
  await mkdir(folder);
  const first = await flush(folder);
  await writeFile(join(folder, 'file'), 'x');
  assert.equal(await flush(folder), first);
  await rm(join(folder, 'file'));
  await rmdir(folder);
  await mkdir(folder);
  assert.notEqual(await flush(folder), first);
  await rm(directory, { recursive: true });
});
