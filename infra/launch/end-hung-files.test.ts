import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { endHungFiles } from './end-hung-files.ts';

test('a file that does not end is killed and named, and other processes are left alone', async () => {
  const killed = Promise.withResolvers<string>();
  endHungFiles(['hung.test.ts', 'other.test.ts'], 50, killed.resolve);
  // Node passes what follows the program on to it.
  const start = (file: string) => spawn(process.execPath, ['--eval', 'for (;;);', file]);
  const server = start('server.ts');
  const hung = start('hung.test.ts');
  assert.deepEqual(await once(hung, 'exit'), [null, 'SIGKILL']);
  assert.equal(await killed.promise, 'hung.test.ts');
  assert.equal(server.exitCode ?? server.signalCode, null);
  server.kill();
  assert.deepEqual(await once(server, 'exit'), [null, 'SIGTERM']);
});
