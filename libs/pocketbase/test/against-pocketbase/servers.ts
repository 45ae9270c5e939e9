import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSend, demand } from './json-client.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../../..', import.meta.url));

export const pocketBaseVersion = '0.40.4';

const module = `github.com/pocketbase/pocketbase@v${pocketBaseVersion}`;
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'recordbus');

/** A running server. */
export interface RunningServer<Admin> {
  readonly url: string;
  readonly admin: Admin;
  stop(): Promise<void>;
}

/**
 * Returns PocketBase's program: the one that POCKETBASE_BINARY names, or one that Go builds from its module and that
 * stays in the cache. Returns the reason if there is none.
 */
export async function findPocketBase(): Promise<{ readonly program: string } | { readonly missing: string }> {
  const given = process.env.POCKETBASE_BINARY;
  if (given) return { program: given };
  const program = join(cache, `pocketbase-${pocketBaseVersion}`);
  if (existsSync(program)) return { program };
  try {
    await buildPocketBase(program);
    return { program };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n').at(-1) ?? '') : String(error);
    return { missing: `needs PocketBase in POCKETBASE_BINARY, or Go 1.26 to build it: ${why}` };
  }
}

async function buildPocketBase(program: string): Promise<void> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module]);
  const sources = await mkdtemp(join(tmpdir(), 'recordbus-pocketbase-'));
  try {
    await cp((JSON.parse(stdout) as { Dir: string }).Dir, sources, { recursive: true });
    await run('chmod', ['-R', 'u+w', sources]);
    // Its go.mod asks for Go 1.27, for a package that Go 1.26 has as an experiment.
    await run('go', ['mod', 'edit', '-go=1.26'], { cwd: sources });
    await mkdir(cache, { recursive: true });
    const env = { ...process.env, GOFLAGS: '-mod=mod', GOEXPERIMENT: 'jsonv2' };
    await run('go', ['build', '-o', `${program}.new`, './examples/base'], { cwd: sources, env });
    await cp(`${program}.new`, program);
    await chmod(program, 0o755);
    await rm(`${program}.new`);
  } finally {
    await rm(sources, { recursive: true, force: true });
  }
}

/** Starts PocketBase on an empty directory. */
export async function startPocketBase(program: string): Promise<RunningServer<{ identity: string; password: string }>> {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-pocketbase-data-'));
  const admin = { identity: 'root@example.com', password: 'rootroot123' };
  // By default, PocketBase notes each change of a collection beside its directory, and applies those of others.
  const places = ['--dir', directory, '--migrationsDir', join(directory, 'migrations'), '--automigrate=false'];
  await run(program, ['superuser', 'upsert', admin.identity, admin.password, ...places, '--dev=false']);
  const url = `http://127.0.0.1:${await findPort()}`;
  const child = spawn(program, ['serve', '--http', url.slice('http://'.length), ...places, '--dev=false'], {
    stdio: 'ignore',
  });
  await waitFor(child, async () => (await fetch(`${url}/api/health`)).ok);
  return { url, admin, stop: () => stop(child, directory) };
}

/** Starts this product in one process, with its own servers. */
export async function startProduct(): Promise<RunningServer<{ email: string; password: string }>> {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-product-data-'));
  const child = spawn(process.execPath, [join(repository, 'infra/local/src/main.ts')], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: {
      ...process.env,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: '0',
      SERVICE_DATA_DIR: directory,
      SERVICE_RELEASE_URL: 'http://127.0.0.1:1',
      SERVICE_PAGES_DIR: join(directory, 'no-pages'),
    },
  });
  const ready: { url?: string; setupToken?: string } = {};
  child.on('message', (message) => Object.assign(ready, message));
  await waitFor(child, async () => ready.url !== undefined);
  const { url = '', setupToken: token } = ready;
  const admin = { email: 'ada@example.com', password: 'correct horse battery staple' };
  await demand(createSend(url), 'POST', '/api/v1/admin/setup', { token, ...admin });
  return { url, admin, stop: () => stop(child, directory) };
}

/** Long: a busy machine starts a stack in minutes. */
const startTimeoutMs = 600_000;

async function waitFor(child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  const endsAtMs = Date.now() + startTimeoutMs;
  while (!(await isReady().catch(() => false))) {
    if (child.exitCode !== null || Date.now() > endsAtMs) throw new Error(`${child.spawnfile} did not start`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function stop(child: ChildProcess, directory: string): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await ended;
  await rm(directory, { recursive: true, force: true });
}

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
