import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sessionCount } from '../rows/refresh.ts';
import { credentials } from '../rows/register-user.ts';
import { fillPocketBase } from './fill-pocketbase.ts';
import { createSchema } from './pocketbase-schema.ts';

/** A PocketBase on a temporary data directory, with the bench's schema and records. */
export interface PocketBase {
  readonly url: string;
  readonly pid: number;
  /** Its user's tokens. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

/** Calls the API as a superuser. */
export type PocketBaseApi = <T>(method: string, path: string, body?: unknown) => Promise<T>;

const account = { identity: 'bench@example.com', password: 'a bench needs no secret' };
const patienceMs = 20_000;

/** Starts a PocketBase binary, and fills it while it does not run. */
export async function startPocketBase(binary: string): Promise<PocketBase> {
  const directory = mkdtempSync(join(tmpdir(), 'pocketbase-bench-'));
  const data = join(directory, 'pb_data');
  let server: ChildProcess | undefined;
  const stop = async () => {
    if (server) await end(server);
    rmSync(directory, { recursive: true, force: true });
  };
  // Otherwise it writes migrations next to its data.
  const run = (...args: string[]) =>
    spawn(binary, [...args, '--dir', data, '--automigrate=false'], { stdio: 'ignore', detached: true, cwd: directory });
  try {
    const address = `127.0.0.1:${await freePort()}`;
    const url = `http://${address}`;
    const serve = async (): Promise<ChildProcess> => {
      server = run('serve', '--http', address);
      await untilHealthy(url);
      return server;
    };
    await once(run('superuser', 'upsert', account.identity, account.password), 'exit');
    const first = await serve();
    const superuser = await signIn(url);
    await createSchema(superuser);
    const userId = await createUser(superuser);
    await end(first);
    fillPocketBase(join(data, 'data.db'), userId);
    const { pid = 0 } = await serve();
    return { url, pid, tokens: await signInUser(url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function untilHealthy(url: string): Promise<void> {
  for (const deadlineMs = performance.now() + patienceMs; ; await setTimeout(50)) {
    const answer = await fetch(`${url}/api/health`).catch(() => undefined);
    if (answer?.ok) return;
    if (performance.now() > deadlineMs) throw new Error('PocketBase did not start');
  }
}

async function send<T>(url: string, method: string, path: string, body: unknown, token?: string): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: token }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`PocketBase, ${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

const authenticate = async (url: string, collection: string, account: object): Promise<string> => {
  const path = `/api/collections/${collection}/auth-with-password`;
  return (await send<{ token: string }>(url, 'POST', path, account)).token;
};

async function signIn(url: string): Promise<PocketBaseApi> {
  const token = await authenticate(url, '_superusers', account);
  return (method, path, body) => send(url, method, path, body, token);
}

async function createUser(superuser: PocketBaseApi): Promise<string> {
  const body = { ...credentials, passwordConfirm: credentials.password };
  return (await superuser<{ id: string }>('POST', '/api/collections/users/records', body)).id;
}

async function signInUser(url: string): Promise<string[]> {
  const user = { identity: credentials.email, password: credentials.password };
  const tokens: string[] = [];
  while (tokens.length < sessionCount) tokens.push(await authenticate(url, 'users', user));
  return tokens;
}
