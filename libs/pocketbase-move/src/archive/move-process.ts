/** Moves a backup in its own process: a hostile or damaged database harms no service. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '@recordbus/errors';
import { CommandFailure, type Progress } from '@recordbus/stack-calls';
import { moveIn } from '../move-in.ts';
import type { ArchiveMove, FromMove } from './messages.ts';
import { unpackBackup } from './unpack.ts';

/** The shortest time between two notes about progress, in milliseconds. */
const everyMs = 500;

const tell = (message: FromMove): void => {
  process.send?.(message);
};

// The service is gone, so nobody would renew the move's lease.
process.once('disconnect', () => process.exit(1));
process.once('message', (order: ArchiveMove) => {
  run(order).then(
    () => process.disconnect(),
    (error: unknown) => {
      tell(failureOf(error, order));
      process.disconnect();
    },
  );
});

async function run({ folder, address, maxBytes, ...options }: ArchiveMove): Promise<void> {
  const progress = createTeller();
  const directory = join(folder, 'pb_data');
  const isUnpacked = join(folder, 'unpacked');
  if (!existsSync(isUnpacked)) {
    // What a killed process has left may be incomplete.
    await rm(directory, { recursive: true, force: true });
    await unpackBackup({ archive: join(folder, 'backup.zip'), directory, maxBytes, progress });
    await writeFile(isUnpacked, '');
  }
  const ends: (() => Promise<void> | void)[] = [];
  try {
    const result = await moveIn(
      {
        lifecycle: { onStop: (_name, end) => void ends.unshift(end) },
        terminal: { note: (text) => progress.show(text) },
        progress,
        showPlan: () => {},
      },
      { ...options, directory, address, target: 'this stack', state: join(folder, 'notes') },
    );
    tell({ kind: 'done', ...result, report: { ...result.report, source: 'the backup' } });
  } finally {
    for (const end of ends) await end();
  }
}

function createTeller(): Progress {
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    show(text, part) {
      if (performance.now() < nextMs) return;
      nextMs = performance.now() + everyMs;
      tell({ kind: 'progress', text, part });
    },
    end() {},
  };
}

/** Names the backup instead of the server's folders, and parameters instead of the command's options. */
function failureOf(error: unknown, { folder }: ArchiveMove): FromMove {
  const isFinal = error instanceof CommandFailure || (error instanceof AppError && error.status < 500);
  const details = error instanceof AppError ? Object.entries(error.details ?? {}) : [];
  const text = messageOf(error);
  const message = [text, ...details.map(([place, what]) => `${place}: ${String(what)}`)]
    .join('\n')
    .replaceAll(`${folder}/`, '')
    .replaceAll(/--(only|map)\b/g, '`$1`')
    // A backup has one run.
    .replace(", or name the last run's notes with --state", '')
    .replace('`only`, rename', '`only`, or rename');
  return { kind: 'failed', message, mayRetry: !isFinal || / does not answer: /.test(text) };
}
