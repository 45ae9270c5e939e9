import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { prepareSocketDirectory } from './socket-directory.ts';

const base = await mkdtemp(join(tmpdir(), 'socket-'));
after(() => rm(base, { recursive: true, force: true }));

test("only killed servers' sockets are removed", async () => {
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock', '.s.PGSQL.backup', 'password'])
    await writeFile(join(base, name), '');
  assert.equal(await prepareSocketDirectory(base), base);
  assert.deepEqual((await readdir(base)).sort(), ['.s.PGSQL.backup', 'password']);
});

test('a path that is too long for a socket has none', async () => {
  const long = join(base, 'ü'.repeat(50));
  await mkdir(long);
  assert.equal(await prepareSocketDirectory(long), undefined);
});
