import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually, Hopeless } from '../eventually.ts';
import { endChild, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';
import { unprivileged } from './platform-binaries.ts';

/** A PgBouncer in front of a server, which pools by transaction. */
export interface PgBouncer extends AsyncDisposable {
  /** Admits a URL's role, and returns the URL through PgBouncer. */
  through(url: string): Promise<string>;
}

/** The program on PATH, unless TEST_PGBOUNCER names another one. */
const program = process.env.TEST_PGBOUNCER ?? 'pgbouncer';
const oldest = [1, 21] as const;

/** Returns the reason to skip tests with PgBouncer; false if a usable PgBouncer exists. */
export function missingPgBouncer(): string | false {
  const [major = 0, minor = 0] = versionOf();
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return false;
  return `needs PgBouncer ${oldest.join('.')} or newer on PATH or in TEST_PGBOUNCER`;
}

function versionOf(): readonly number[] {
  try {
    const text = execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return (/(\d+)\.(\d+)/.exec(text)?.slice(1) ?? []).map(Number);
  } catch {
    return [];
  }
}

/** Starts it in front of a URL's server, with few connections, so that each statement may get a different one. */
export async function startPgBouncer(
  serverUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const { hostname, port: serverPort } = new URL(serverUrl);
  const port = await findFreePort();
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-pgbouncer-'));
  chmodSync(directory, 0o755);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: join(directory, 'users.txt'),
    pool_mode: 'transaction',
    max_prepared_statements: '200',
    default_pool_size: '60',
    max_client_conn: '1000',
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(directory, 'pgbouncer.ini');
  const users = new Map<string, string>();
  const writeUsers = () =>
    writeFileSync(settings.auth_file, [...users].map(([user, password]) => `"${user}" "${password}"\n`).join(''));
  writeUsers();
  writeFileSync(
    file,
    ['[databases]', `* = host=${hostname} port=${serverPort}`, '[pgbouncer]', ...lines, ''].join('\n'),
  );
  const child = startChild(program, [file], { cwd: directory, ...unprivileged });
  await eventually('PgBouncer is ready', () => {
    if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
    return child.lines.some((line) => line.includes('process up'));
  });
  return {
    async through(url) {
      const own = Object.assign(new URL(url), { host: `127.0.0.1:${port}` });
      own.password ||= 'none';
      users.set(own.username, own.password);
      writeUsers();
      await eventually('PgBouncer lets the role in', async () => {
        if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
        child.kill('SIGHUP');
        return answers(own.href);
      });
      return own.href;
    },
    async [Symbol.asyncDispose]() {
      await endChild(child, 'SIGINT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<true> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    await client.end();
  }
}
