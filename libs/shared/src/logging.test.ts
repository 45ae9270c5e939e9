import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** Runs code in a process of its own and gives the messages that it logged. */
function messagesOf(code: string): string[] {
  const logging = JSON.stringify(new URL('./logging.ts', import.meta.url).href);
  const script = `import { createLogger } from ${logging}; const log = createLogger('test', 'info'); ${code}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).msg);
}

test('the last line before an end is there, however the process ends', () => {
  assert.deepEqual(messagesOf("log.info('one'); log.info('two')"), ['one', 'two']);
  assert.deepEqual(messagesOf("log.info('one'); process.exit(1)"), ['one']);
  assert.deepEqual(messagesOf("log.info('one'); throw new Error('no')"), ['one']);
  assert.deepEqual(messagesOf("log.info('one'); log.fatal('two'); process.kill(process.pid, 'SIGKILL')"), [
    'one',
    'two',
  ]);
});

test('many lines arrive whole and in their order', () => {
  const messages = messagesOf(
    "for (let n = 0; n < 5000; n += 1) log.info(String(n)); setImmediate(() => log.info('end'))",
  );
  assert.deepEqual(messages, [...Array.from({ length: 5000 }, (_, n) => String(n)), 'end']);
});
