import type { OnProgress } from './load.ts';

const barWidth = 30;

/** Shows a load's progress: a bar on a terminal, otherwise a line for each collection. */
export function showProgress(stream: NodeJS.WriteStream): OnProgress {
  return (collection, done, total) => {
    if (stream.isTTY) {
      const filled = Math.round((done / total) * barWidth);
      const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
      stream.write(`\r  ${bar} ${`${done}/${total}`.padStart(7)} ${collection}\x1b[K${done === total ? '\n' : ''}`);
    } else if (done === total) stream.write(`  ${total} ${collection}\n`);
  };
}
