import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, Hopeless } from '../eventually.ts';
import { type Child, endChild, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';
import { natsBinary } from './platform-binaries.ts';
import type { Server } from './server.ts';

/** A killed server reads a large stream again before it is ready. */
const patience = { timeoutMs: 60_000 };

/** A server whose data can go back to an earlier state, and whose disk can shrink. */
interface EmbeddedNats extends Server {
  /** Stops it, keeps a copy of its data, and starts it again. */
  keepCopy(): Promise<void>;
  /** Kills it and starts it on the copy, as after a lost disk. */
  goBack(): Promise<void>;
  /** Stops it, and starts it with as many bytes for streams, as a fuller disk does. */
  limitStore(bytes: number): Promise<void>;
}

/** Starts a nats-server in a temporary directory, by default with JetStream. It is ready after some ten milliseconds. */
export async function startEmbeddedNats({ jetstream = true } = {}): Promise<EmbeddedNats> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-nats-'));
  const copy = `${directory}-copy`;
  const configuration = `${directory}.conf`;
  const port = await findFreePort();
  let child: Child;
  let limiting: readonly string[] = [];

  const start = async (): Promise<void> => {
    const storing = jetstream ? ['-js', '-sd', directory] : [];
    child = startChild(natsBinary(), ['-a', '127.0.0.1', '-p', String(port), ...storing, ...limiting]);
    await eventually(
      'nats-server is ready',
      () => {
        if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
        return child.lines.some((line) => line.includes('Server is ready'));
      },
      patience,
    );
  };
  const remove = async (): Promise<void> => {
    await endChild(child, 'SIGTERM');
    for (const each of [directory, copy, configuration]) rmSync(each, { recursive: true, force: true });
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    async stop() {
      await endChild(child, 'SIGTERM');
    },
    async kill() {
      await endChild(child, 'SIGKILL');
    },
    async wipe() {
      await endChild(child, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
      await start();
    },
    async keepCopy() {
      await endChild(child, 'SIGTERM');
      cpSync(directory, copy, { recursive: true });
      await start();
    },
    async goBack() {
      await endChild(child, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
      cpSync(copy, directory, { recursive: true });
      await start();
    },
    async limitStore(bytes) {
      await endChild(child, 'SIGTERM');
      writeFileSync(configuration, JSON.stringify({ jetstream: { max_file_store: bytes } }));
      limiting = ['-c', configuration];
      await start();
    },
    async freeze() {
      child.kill('SIGSTOP');
    },
    async thaw() {
      child.kill('SIGCONT');
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
