import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { lockDataDirectory } from './data-directory.ts';
import { findProcess } from './process-identity.ts';

let directory = '';
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'lock-')), 'data');
});
afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }));

const lockFile = () => join(directory, 'stack.lock');

test('a data directory belongs to one stack at a time, and the refusal names the other', async () => {
  const lock = await lockDataDirectory(directory);
  await assert.rejects(lockDataDirectory(directory), new RegExp(`process ${process.pid}.*SERVICE_DATA_DIR`));
  await lock.release();
  assert.equal(existsSync(lockFile()), false);
  await (await lockDataDirectory(directory)).release();
});

test('the lock of a process that is gone is taken over', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = findProcess(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), JSON.stringify(identity));
  await (await lockDataDirectory(directory)).release();
});

test('the lock of a process whose pid another one has now is taken over', async () => {
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), JSON.stringify({ pid: process.pid, startedAt: 'an earlier boot' }));
  await (await lockDataDirectory(directory)).release();
});

test('a lock file that holds nothing sensible does not stop the start', async () => {
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), 'half a');
  await (await lockDataDirectory(directory)).release();
});

test('of many that want a dead lock at once, one gets it', async () => {
  await (await lockDataDirectory(directory)).release();
  await writeFile(lockFile(), JSON.stringify({ pid: process.pid, startedAt: 'an earlier boot' }));
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDirectory(directory)));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a release after the lock has passed to another leaves the other alone', async () => {
  const first = await lockDataDirectory(directory);
  await rm(lockFile());
  const second = await lockDataDirectory(directory);
  await first.release();
  assert.equal(existsSync(lockFile()), true);
  await second.release();
});
