import { globSync } from 'node:fs';
import { clientScenarios } from './client-scenarios.ts';

/** A part of a run of the tests, with files of its own. */
export interface Part {
  readonly title: string;
  readonly files: readonly string[];
  /** The topology of the scenarios' stacks; both by default. */
  readonly topology?: 'one' | 'processes' | 'replicas';
  /** Variables of the run. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Flags for the runner of Node. */
  readonly flags?: readonly string[];
}

/** The run that the command line selects. */
export interface TestRun {
  /** Empty when no file is selected. */
  readonly parts: readonly Part[];
  /** Whether to run all of `npm test`, which begins with the checks. */
  readonly isWhole: boolean;
  /** Whether files with failures run once more. */
  readonly isRetrying: boolean;
  /** Flags for the runner of Node. */
  readonly flags: readonly string[];
  /** Parts of the paths of the selected files. */
  readonly selectors: readonly string[];
}

/** The runner sorts the files: tests next to the code run before the black-box suite in `tests`. */
const patterns = ['examples', 'infra', 'libs', 'services', 'tests'].map((folder) => `${folder}/**/*.test.ts`);

/**
 * The suffix of files that start their own stacks or take ten seconds of a core. They take longer than all others
 * together.
 */
const slowSuffix = '.slow.test.ts';

/** The folder of the tests that run on both topologies. */
const scenarios = 'tests/scenarios/';
const throughClient = new Set(clientScenarios.map((name) => `${scenarios}${name}.test.ts`));

/** Selects the slow files and the scenarios on separate processes, which `npm test` leaves out. */
const slowFlag = '--slow';
/** Runs the files with failures once more, alone, and names those that then pass. For CI on busy machines. */
const retryFlag = '--retry-failed';

/** Runs the scenarios on several replicas of each service, behind PgBouncer, with a NATS cluster of three. */
const replicasFlag = '--replicas';
const ownFlags = [slowFlag, retryFlag, replicasFlag];

const flagsWithValue = new Set(['--test-name-pattern', '--test-skip-pattern', '--test-concurrency', '--test-timeout']);

/** Reads the command line: flags of this command, flags of Node's runner, and parts of the paths of files. */
export function readTestRun(args: readonly string[]): TestRun {
  const isFlag = (arg: string, index: number): boolean =>
    arg.startsWith('-') || flagsWithValue.has(args[index - 1] ?? '');
  const selectors = args.filter((arg, index) => !isFlag(arg, index));
  const isSlow = args.includes(slowFlag);
  const flags = args.filter((arg, index) => isFlag(arg, index) && !ownFlags.includes(arg));
  const isOnReplicas = args.includes(replicasFlag);
  const files = selectFiles(selectors);
  const parts = isOnReplicas ? [partOnReplicas(files)] : partsOf(files, isSlow, selectors.length > 0);
  return {
    parts: parts.filter((part) => part.files.length > 0),
    isWhole: !isSlow && !isOnReplicas && selectors.length === 0 && flags.length === 0,
    isRetrying: args.includes(retryFlag),
    flags,
    selectors,
  };
}

const selectFiles = (selectors: readonly string[]): string[] =>
  globSync(patterns, { exclude: (name) => name === 'node_modules' })
    .filter((file) => selectors.length === 0 || selectors.some((selector) => file.includes(selector)))
    .sort();

/** One file at a time: a stack of replicas is a dozen processes and more. */
const partOnReplicas = (files: readonly string[]): Part => ({
  title: 'Scenarios on replicas',
  files: files.filter((file) => file.startsWith(scenarios)),
  topology: 'replicas',
  environment: { TEST_BUS: 'cluster', TEST_DATABASE: 'pgbouncer' },
  flags: ['--test-concurrency=1'],
});

/** Separate processes take most of the scenarios' time, so they belong to the slow run. Selected files run on both. */
function partsOf(files: readonly string[], isSlowRun: boolean, isSelected: boolean): readonly Part[] {
  const quick = files.filter((file) => !file.endsWith(slowSuffix));
  if (isSlowRun) {
    const onProcesses = quick.filter((file) => file.startsWith(scenarios));
    return [
      { title: 'Slow tests', files: files.filter((file) => file.endsWith(slowSuffix)) },
      { title: 'Scenarios on separate processes', files: onProcesses, topology: 'processes' },
      {
        title: 'Scenarios through the client',
        files: files.filter((file) => throughClient.has(file)),
        topology: 'one',
        environment: { TEST_THROUGH: 'client' },
      },
    ];
  }
  return [isSelected ? { title: 'Tests', files } : { title: 'Tests', files: quick, topology: 'one' }];
}
