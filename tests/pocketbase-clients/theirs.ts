import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../harness/eventually.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import { connect, type Side } from './side.ts';
import { world } from './world.ts';

const run = promisify(execFile);

export const pocketBaseVersion = '0.40.4';
const root = { email: 'root@example.com', password: 'rootroot123' };
const cached = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'recordbus',
  `pocketbase-${pocketBaseVersion}`,
);

/** The real PocketBase's program: POCKETBASE_BINARY, or the one that the tests of libs/pocketbase have built. */
export const pocketBaseProgram = process.env.POCKETBASE_BINARY ?? (existsSync(cached) ? cached : undefined);

export const withoutProgram = `needs PocketBase ${pocketBaseVersion} in POCKETBASE_BINARY`;

/** Starts the real PocketBase on an empty directory. */
export async function startTheirs(program: string): Promise<Side & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'recordbus-pocketbase-'));
  const places = ['--dir', directory, '--migrationsDir', join(directory, 'migrations'), '--automigrate=false'];
  await run(program, ['superuser', 'upsert', root.email, root.password, ...places, '--dev=false']);
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const child = spawn(program, ['serve', '--http', url.slice('http://'.length), ...places, '--dev=false'], {
    stdio: 'ignore',
  });
  await eventually('PocketBase has started', async () => (await fetch(`${url}/api/health`).catch(() => undefined))?.ok);
  const admin = async () => {
    const client = connect(url);
    await client.collection('_superusers').authWithPassword(root.email, root.password);
    return client;
  };
  return {
    url,
    admin,
    async prepare() {
      const client = await admin();
      await client.settings.update({ batch: { enabled: true, maxRequests: 50, timeout: 3 } });
      const ids: Record<string, string> = { users: (await client.collections.getOne('users')).id };
      for (const { name, fields, rules } of world) {
        const { id } = await client.collections.create({
          name,
          type: 'base',
          listRule: rules.list,
          viewRule: rules.view,
          createRule: null,
          updateRule: rules.update,
          deleteRule: rules.delete,
          fields: fields.map(({ to, ...field }) => (to === undefined ? field : { ...field, collectionId: ids[to] })),
        });
        await client.collections.update(id, { createRule: rules.create });
        ids[name] = id;
      }
    },
    async [Symbol.asyncDispose]() {
      await stop(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await ended;
}
