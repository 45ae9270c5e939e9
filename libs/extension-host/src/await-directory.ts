import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Logger } from '@recordbus/process/logging';

interface Awaiting {
  /** Ends the wait. */
  readonly ending: AbortSignal;
  readonly log: Logger;
  readonly onThere: () => void;
}

/** Whether there is a directory at this path. */
export const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Calls `onThere` once, as soon as the directory exists. The directory above it must exist. */
export function awaitDirectory(directory: string, { ending, log, onThere }: Awaiting): void {
  let isOver = false;
  const giveUp = (error: unknown): void => {
    if (!ending.aborted) log.warn({ err: error, directory }, 'cannot watch for the extension directory');
  };
  const look = async (): Promise<void> => {
    if (isOver || !(await isDirectory(directory)) || isOver || ending.aborted) return;
    isOver = true;
    watcher?.close();
    onThere();
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(directory), { signal: ending, persistent: false }, (_event, name) => {
      if (name === null || name === basename(directory)) void look();
    });
    watcher.on('error', giveUp);
  } catch (error) {
    giveUp(error);
  }
  // The directory may have been created before the watch.
  void look();
}
