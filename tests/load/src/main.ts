import { runBench } from './bench.ts';
import { compareCheckouts } from './compare/compare-checkouts.ts';
import { readOptions, UsageError, usage } from './options.ts';
import { comparePocketBase } from './pocketbase/compare-pocketbase.ts';
import { present } from './report/present.ts';
import { allFailures } from './report/result.ts';

const startedAtMs = performance.now();
await using cleanUp = new AsyncDisposableStack();
let stopping: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    stopping ??= cleanUp.disposeAsync().finally(() => process.exit(130));
  });

/** Writes progress to standard error: standard output has only the result. */
const tell = (text: string): void => {
  const elapsedSec = Math.round((performance.now() - startedAtMs) / 1000);
  process.stderr.write(`${`${elapsedSec} s`.padStart(6)}  ${text}\n`);
};

try {
  const options = readOptions(process.argv.slice(2));
  if (options?.against !== undefined) {
    const lines = await compareCheckouts({ ...options, against: options.against }, tell, cleanUp);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  } else if (options?.pocketbase !== undefined) {
    const lines = await comparePocketBase({ ...options, pocketbase: options.pocketbase }, tell, cleanUp);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  } else if (options) {
    const result = await runBench(options, tell, cleanUp);
    tell('done');
    process.stdout.write(`\n${present(result, options.markdown ? 'markdown' : 'text')}`);
    if (allFailures(result).length > 0) process.exitCode = 1;
  } else process.stdout.write(usage);
} catch (error) {
  // Failures that a signal causes are ignored: its handler ends the process.
  await stopping;
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
