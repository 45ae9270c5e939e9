import { fstatSync } from 'node:fs';
import { unlessMissing } from '@recordbus/process/system-error';
import { flushFile, openFile, thenClose } from './file-calls.ts';

/**
 * Flushes a folder: a name in it is durable only after that (fsync(2)). Returns an identity that no other folder has
 * under the same name, before or after; undefined without one. A folder that is gone needs no flush.
 */
export type FlushFolder = (path: string) => Promise<string | undefined>;

/**
 * Creates the folder flushes. Flushes for one folder take turns, and all that wait share the next one: flushing many
 * names costs as much as flushing one.
 */
export function createFlushFolder(flush: FlushFolder = flushNow): FlushFolder {
  const running = new Map<string, Promise<string | undefined>>();
  const waiting = new Map<string, Promise<string | undefined>>();

  function begin(path: string): Promise<string | undefined> {
    const turn = flush(path).finally(() => {
      if (running.get(path) === turn) running.delete(path);
    });
    running.set(path, turn);
    return turn;
  }

  async function next(path: string, before: Promise<unknown>): Promise<string | undefined> {
    await before.catch(() => {});
    waiting.delete(path);
    return begin(path);
  }

  return (path) => {
    const shared = waiting.get(path);
    if (shared) return shared;
    const before = running.get(path);
    if (!before) return begin(path);
    const turn = next(path, before);
    waiting.set(path, turn);
    return turn;
  };
}

async function flushNow(path: string): Promise<string | undefined> {
  const folder = await unlessMissing(openFile(path, 'r', 0));
  if (folder === undefined) return undefined;
  return thenClose(folder, async () => {
    await flushFile(folder);
    const { dev, ino, birthtimeNs } = fstatSync(folder, { bigint: true });
    // A removed folder's number is soon used again. Some file systems keep no birth time.
    return birthtimeNs > 0n ? `${dev}/${ino}/${birthtimeNs}` : undefined;
  });
}
