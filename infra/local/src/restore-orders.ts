import { join } from 'node:path';
import { endRestore, findRestoreNote, isUnderWay } from '@recordbus/backup/restore-note';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** Where the records service leaves restores (operation §9.7). */
export const restoreDirectoryOf = ({ dataDirectory }: { readonly dataDirectory: string }): string =>
  join(dataDirectory, 'restore');

const checkEveryMs = 500;

/** Looks for a checked restore, and calls `onOrder` once. Ends what an earlier process has left. */
export function followRestoreOrders(directory: string, log: Logger, onOrder: () => void): BackgroundTask {
  const lost = findRestoreNote(directory);
  // The records service may have begun a check since this process began.
  const isLost = isUnderWay(lost) && lost.state !== 'checking';
  if (isLost)
    endRestore(directory, lost, 'failed', 'The process ended before the restore was complete: check the data.');
  let isOrdered = false;
  const task = every({
    name: 'look for restores',
    log,
    intervalMs: checkEveryMs,
    async run() {
      if (isOrdered || findRestoreNote(directory)?.state !== 'waiting') return;
      isOrdered = true;
      onOrder();
    },
  });
  task.start();
  return task;
}
