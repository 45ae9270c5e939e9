import { flushFile, openFile, thenClose } from './file-calls.ts';
import { unlessMissing } from './unless-missing.ts';

/** Flushes a folder: a name in it is durable only after that (fsync(2)). A folder that is gone needs no flush. */
export type FlushFolder = (path: string) => Promise<void>;

/**
 * Creates the flushes of folders. Flushes of one folder take turns, and all that wait share the next one: a flush of
 * many names costs as much as a flush of one.
 */
export function createFlushFolder(flush: FlushFolder = flushNow): FlushFolder {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();

  function begin(path: string): Promise<void> {
    const turn = flush(path).finally(() => {
      if (running.get(path) === turn) running.delete(path);
    });
    running.set(path, turn);
    return turn;
  }

  async function next(path: string, before: Promise<void>): Promise<void> {
    await before.catch(() => {});
    waiting.delete(path);
    await begin(path);
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

async function flushNow(path: string): Promise<void> {
  const folder = await unlessMissing(openFile(path, 'r', 0));
  if (folder !== undefined) await thenClose(folder, () => flushFile(folder));
}
