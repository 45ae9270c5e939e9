import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { lockDataDirectory } from './data-directory.ts';
import { findProcess } from './process-identity.ts';
import { writeStackNote } from './stack-note.ts';

let directory = '';
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'lock-')), 'data');
});
afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }));

const lockFile = () => join(directory, 'stack.lock');

test('a data directory belongs to one stack at a time, and the refusal names the other stack', async () => {
  const lock = await lockDataDirectory(directory);
  await assert.rejects(lockDataDirectory(directory), new RegExp(`process ${process.pid}.*SERVICE_DATA_DIR`));
  await lock.release();
  assert.equal(existsSync(lockFile()), false);
  await (await lockDataDirectory(directory)).release();
});

test("a dead process's lock is taken over", async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = findProcess(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), JSON.stringify(identity));
  await (await lockDataDirectory(directory)).release();
});

test("the lock is taken over if another process now has its holder's pid", async () => {
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), JSON.stringify({ pid: process.pid, startedAt: 'an earlier boot' }));
  await (await lockDataDirectory(directory)).release();
});

test('an invalid lock file does not stop the start', async () => {
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), 'half a');
  await (await lockDataDirectory(directory)).release();
});

test('a claim waits for a stack that is stopping, but not for one that answers', async () => {
  const first = await lockDataDirectory(directory);
  const waiting = lockDataDirectory(directory, { waitMs: 30_000 });
  await first.release();
  const second = await waiting;
  const note = await writeStackNote(directory, { url: 'http://localhost:1' });
  await assert.rejects(lockDataDirectory(directory, { waitMs: 30_000 }), /Another stack/);
  await note.remove();
  await second.release();
  assert.equal((await lockDataDirectory(directory)).isTakenOver, false);
});

test('an unusable directory is refused with a sentence', async () => {
  const base = join(directory, '..');
  await writeFile(join(base, 'file'), '');
  await symlink(join(base, 'nowhere', 'at all'), join(base, 'dangling'));
  await symlink(join(base, 'circle'), join(base, 'circle'));
  for (const [path, reason] of [
    ['file', 'it is not a directory, or lies below something that is not'],
    ['file/below', 'it is not a directory, or lies below something that is not'],
    ['dangling', 'it is not a directory, or lies below something that is not'],
    ['dangling/below', 'it is not a directory, or lies below something that is not'],
    ['circle', 'its links lead in a circle'],
    ['x'.repeat(300), 'its name is too long'],
  ] as const)
    await assert.rejects(lockDataDirectory(join(base, path)), {
      name: 'ConfigError',
      message: `SERVICE_DATA_DIR cannot be used: ${join(base, path)}: ${reason}.`,
    });
  await mkdir(join(directory, 'stack.lock'), { recursive: true });
  await assert.rejects(lockDataDirectory(directory), {
    name: 'ConfigError',
    message: /SERVICE_DATA_DIR cannot be used/,
  });
});

test('when many claim a dead lock at once, one succeeds', async () => {
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), JSON.stringify({ pid: process.pid, startedAt: 'an earlier boot' }));
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDirectory(directory)));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a late release does not affect the next holder', async () => {
  const first = await lockDataDirectory(directory);
  await rm(lockFile());
  const second = await lockDataDirectory(directory);
  await first.release();
  assert.equal(existsSync(lockFile()), true);
  await second.release();
});
