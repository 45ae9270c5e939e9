import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { runStage, type Stage } from './run-stage.ts';
import { testsInCheck } from './test-run.ts';

/** Each checker checks the types that it needs itself, so on two cores several take more time than one. */
const checkers = String(Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))));

/** A second check looks only at what has changed. */
const incremental = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo'];

const pages = 'services/admin/pages';
/** Checks the components too, with a TypeScript of its own: it needs the compiler's functions, which version 7 lacks. */
const svelteCheck = createRequire(join(process.cwd(), pages, 'package.json')).resolve('svelte-check/bin/svelte-check');

const stages: readonly Stage[] = [
  { title: 'Types', command: 'tsc', args: ['-p', '.', '--checkers', checkers, ...incremental] },
  {
    title: 'Admin page types',
    command: 'node',
    args: [svelteCheck, '--workspace', pages, '--tsconfig', './tsconfig.json', '--fail-on-warnings'],
  },
  { title: 'examples/tasks page types', command: 'tsc', args: ['-p', 'examples/tasks'] },
  { title: 'Lint and format', command: 'biome', args: ['check'] },
  { title: 'Layers', command: 'turbo', args: ['boundaries', '--no-color'] },
  { title: 'Imports and conflict markers', command: 'node', args: ['--test', '--test-reporter=dot', ...testsInCheck] },
];

const failed: string[] = [];
for (const stage of stages) {
  if (!(await runStage(stage))) failed.push(stage.title);
}
if (failed.length > 0) {
  process.stdout.write(`\nFailed: ${failed.join(', ')}.\n`);
  process.exitCode = 1;
}
