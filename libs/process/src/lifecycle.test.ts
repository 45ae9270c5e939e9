import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startPart } from './lifecycle.ts';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Runs a process with a lifecycle; it prints `ready`, then its steps. */
function run(body: string, options = '') {
  const script = `
    import { createLifecycle } from ${JSON.stringify(here('./lifecycle.ts'))};
    import { createLogger } from ${JSON.stringify(here('./logging.ts'))};
    const say = (text) => process.stdout.write(text + '\\n');
    const lifecycle = createLifecycle({ log: createLogger('test', 'silent'), stopTimeoutMs: 500, ${options} });
    setInterval(() => {}, 1000);
    ${body}
    say('ready');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const reader = createInterface(child.stdout);
  const ready = once(reader, 'line');
  reader.on('line', (line) => lines.push(line));
  return { child, lines, ready, ended: once(child, 'close') };
}

describe("a process's lifecycle", () => {
  it('stops everything in the reverse order and exits 0 on a signal', async () => {
    const { child, lines, ready, ended } = run(`
      lifecycle.onStop('first', () => say('first'));
      lifecycle.onStop('second', async () => say('second'));`);
    await ready;
    child.kill('SIGTERM');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual(lines, ['ready', 'second', 'first']);
  });

  it('exits with the code of onSignal', async () => {
    const { child, lines, ready, ended } = run(
      `lifecycle.onStop('part', () => say('part'));`,
      `onSignal: (signal) => { say(signal); return 3; }`,
    );
    await ready;
    child.kill('SIGINT');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [3, null]);
    assert.match(lines.join(), /^ready,SIG(INT|TERM),part$/);
  });

  it('continues after a part that fails or hangs, and exits 1', async () => {
    const { child, lines, ready, ended } = run(`
      lifecycle.onStop('last', () => say('last'));
      lifecycle.onStop('fails', () => { throw new Error('no'); });
      lifecycle.onStop('hangs', () => new Promise(() => {}));`);
    await ready;
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [1, null]);
    assert.deepEqual(lines, ['ready', 'last']);
  });

  it('stops everything and exits 1 after an uncaught error', async () => {
    const { lines, ended } = run(`
      lifecycle.onStop('part', () => say('part'));
      setTimeout(() => { void Promise.reject(new Error('lost')); }, 10);`);
    assert.deepEqual(await ended, [1, null]);
    assert.deepEqual(lines, ['ready', 'part']);
  });
});

describe('a part of a process', () => {
  const registered: string[] = [];
  const lifecycle = { onStop: (name: string) => void registered.push(name) };

  it('is stopped with the process once it was started, even when the start failed', async () => {
    const part = { start: async () => {}, stop: async () => {} };
    assert.equal(await startPart(lifecycle, 'works', part), part);
    const start = async () => {
      throw new Error('no');
    };
    await assert.rejects(startPart(lifecycle, 'fails', { ...part, start }), /no/);
    assert.deepEqual(registered, ['works', 'fails']);
  });
});
