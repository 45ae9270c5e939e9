import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

const logging = JSON.stringify(new URL('./logging.ts', import.meta.url).href);

/** A program with a logger that runs the given code. */
const scriptOf = (code: string) =>
  `import { createLogger } from ${logging}; const log = createLogger('test', 'info'); ${code}`;

const readMessages = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).msg);

/** Runs code in its own process and returns the messages that it logged. */
function messagesOf(code: string): string[] {
  const args = ['--input-type=module', '-e', scriptOf(code)];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return readMessages(stdout);
}

test('the last line is written however a process ends', () => {
  assert.deepEqual(messagesOf("log.info('one'); log.info('two')"), ['one', 'two']);
  assert.deepEqual(messagesOf("log.info('one'); process.exit(1)"), ['one']);
  assert.deepEqual(messagesOf("log.info('one'); throw new Error('no')"), ['one']);
  assert.deepEqual(messagesOf("log.info('one'); log.fatal('two'); process.kill(process.pid, 'SIGKILL')"), [
    'one',
    'two',
  ]);
});

test('many lines arrive complete and in order', () => {
  const messages = messagesOf(
    "for (let n = 0; n < 5000; n += 1) log.info(String(n)); setImmediate(() => log.info('end'))",
  );
  assert.deepEqual(messages, [...Array.from({ length: 5000 }, (_, n) => String(n)), 'end']);
});

test('a slow reader gets every line, in order', async () => {
  // Once process.stdout is used, the pipe refuses instead of blocking.
  const code = `process.stdout.fd; let n = 0;
    (function turn() {
      for (let i = 0; i < 100; i += 1) log.info(String(n++));
      if (n < 20000) setImmediate(turn);
    })()`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', scriptOf(code)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // The pipe is full long before the first line is read.
  await once(child.stdout, 'readable');
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += chunk;
    await new Promise(setImmediate);
  }
  assert.deepEqual(
    readMessages(text),
    Array.from({ length: 20_000 }, (_, n) => String(n)),
  );
});
