import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { unprivileged } from './unprivileged.ts';

const isRoot = process.getuid?.() === 0;
let base = '';
let program = '';
let directory = '';

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'unprivileged-'));
  program = join(base, 'program');
  directory = join(base, 'directory');
  const script = ['id -u', 'id -G', ': > "$1/made" && echo made', 'find "$0" -executable'].join('\n');
  await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await mkdir(directory, { mode: 0o700 });
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function runProgram(): Promise<string[]> {
  const { command, args, uid, gid } = (await unprivileged(program, directory)).wrap(program, [directory]);
  const { stdout } = await promisify(execFile)(command, args, { cwd: '/', ...(uid !== undefined && { uid, gid }) });
  return stdout.trim().split('\n');
}

test('root runs the program as another user, without its own groups', { skip: !isRoot }, async () => {
  await chmod(base, 0o755);
  const [uid, groups, made] = await runProgram();
  const owner = await stat(directory);
  assert.notEqual(uid, '0');
  assert.deepEqual([Number(uid), Number(groups)], [owner.uid, owner.gid]);
  assert.equal(made, 'made');
});

test('root reaches a program below a directory that only root may enter', { skip: !isRoot }, async () => {
  await chmod(base, 0o700);
  const [uid, groups, made, accessible] = await runProgram();
  assert.notEqual(uid, '0');
  assert.equal(groups?.includes(' '), false);
  assert.equal(made, 'made');
  assert.equal(accessible, program, 'access(2) agrees');
});

test('an ordinary user runs the program unchanged', { skip: isRoot }, async () => {
  const { wrap } = await unprivileged(program, directory);
  assert.deepEqual(wrap(program, ['a']), { command: program, args: ['a'] });
});
