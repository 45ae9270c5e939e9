import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { ConfigError } from '@recordbus/process/config';
import { loadTokenSecret } from './secret.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'token-secret-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('SERVICE_JWT_SECRET gives its raw bytes and creates no file [auth §8.3]', () => {
  const jwtSecret = 'ä secret with more than 32 characters';
  assert.deepEqual(loadTokenSecret({ jwtSecret, dataDirectory: directory }), Buffer.from(jwtSecret));
  assert.deepEqual(readdirSync(directory), []);
});

test('without SERVICE_JWT_SECRET the first start creates a file that only its owner can read, and later starts read it', () => {
  const dataDirectory = join(directory, 'not', 'there', 'yet');
  const first = loadTokenSecret({ dataDirectory });
  assert.deepEqual(loadTokenSecret({ dataDirectory }), first);
  assert.deepEqual(readdirSync(dataDirectory), ['jwt_secret']);
  assert.equal(statSync(join(dataDirectory, 'jwt_secret')).mode & 0o777, 0o600);
  assert.equal(readFileSync(join(dataDirectory, 'jwt_secret'), 'utf8'), `${Buffer.from(first)}\n`);
  assert.equal(first.length, 43);
});

test('several processes that start together use the same secret', async () => {
  const script = `import { loadTokenSecret } from ${JSON.stringify(new URL('./secret.ts', import.meta.url).href)};
    process.stdout.write(loadTokenSecret({ dataDirectory: process.argv[1] }));`;
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, directory]);
  const secrets = await Promise.all(Array.from({ length: 4 }, async () => (await run()).stdout));
  assert.equal(new Set(secrets).size, 1);
  assert.deepEqual(readdirSync(directory), ['jwt_secret']);
});

test('a secret file that is too short, or a data directory that is a file, is an error that names it', () => {
  writeFileSync(join(directory, 'jwt_secret'), 'short');
  const path = join(directory, 'jwt_secret');
  assert.throws(
    () => loadTokenSecret({ dataDirectory: directory }),
    (error) => {
      assert.ok(error instanceof ConfigError);
      return error.message === `The secret file ${path} must have at least 32 characters.`;
    },
  );
  assert.throws(() => loadTokenSecret({ dataDirectory: path }), ConfigError);
});
