import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventually, Hopeless } from './harness/eventually.ts';
import { type Child, endChild, startChild } from './harness/processes/child.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { natsBinary } from './harness/servers/platform-binaries.ts';
import { repository } from './harness/stacks/stack.ts';

const script = join(repository, 'infra/nats/restart-needed.sh');
const find = (program: string): string => spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();
const [busybox, prlimit] = [find('busybox'), find('prlimit')];

test('the chart has the script of compose', () => {
  const copy = join(repository, 'infra/helm/recordbus/files/restart-needed.sh');
  assert.equal(readFileSync(copy, 'utf8'), readFileSync(script, 'utf8'));
});

test('a server that refuses events since a write failed needs a restart', {
  skip: (!busybox || !prlimit) && 'needs BusyBox, as in the image of NATS, and prlimit',
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-nats-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [store, tools] = [join(directory, 'store'), join(directory, 'tools')];
  for (const path of [store, tools]) mkdirSync(path);
  for (const name of ['sh', 'nc', 'df', 'awk']) symlinkSync(busybox, join(tools, name));
  const [port, monitorPort] = [await findFreePort(), await findFreePort()];
  const isNeeded = (): boolean =>
    spawnSync(join(tools, 'sh'), [script, String(monitorPort), store], { env: { PATH: tools } }).status !== 0;

  async function start(): Promise<Child> {
    const address = ['-a', '127.0.0.1', '-p', String(port), '-m', String(monitorPort)];
    const child = startChild(natsBinary(), [...address, '-js', '-sd', store]);
    t.after(() => endChild(child));
    await eventually('nats-server is ready', () => {
      if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
      return child.lines.some((line) => line.includes('Server is ready'));
    });
    return child;
  }
  async function publish(): Promise<boolean> {
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    try {
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: 'NOTES', subjects: ['notes'] });
      await jetstream(connection).publish('notes', new Uint8Array(100_000), { timeout: 2000 });
      return true;
    } catch {
      return false;
    } finally {
      await connection.close();
    }
  }

  assert.equal(isNeeded(), false, 'without a server there is nothing to restart');
  const child = await start();
  assert.equal(await publish(), true);
  assert.equal(isNeeded(), false);

  // A write that fails, as on a full disk, while the disk has room.
  spawnSync(prlimit, ['--pid', String(child.pid), '--fsize=150000:150000']);
  await eventually('an event is refused', async () => !(await publish()));
  assert.equal(isNeeded(), true);

  await endChild(child);
  await start();
  assert.equal(isNeeded(), false);
  assert.equal(await publish(), true);
});
