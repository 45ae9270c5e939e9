import { runDemo } from './demo.ts';
import { Failure } from './failure.ts';
import { readOptions, usage } from './options.ts';

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(usage);
  else await runDemo(options);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
