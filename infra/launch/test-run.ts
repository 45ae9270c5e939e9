import { globSync } from 'node:fs';
import { type ScenarioRun, scenarioRuns } from './scenario-runs.ts';

/** A part of a test run, with its own files. */
export interface Part {
  readonly title: string;
  readonly files: readonly string[];
  /** The topology for the scenarios' stacks; both by default. */
  readonly topology?: 'one' | 'processes' | 'replicas';
  /** The run's variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Flags for Node's runner. */
  readonly flags?: readonly string[];
}

/** The run that the command line selects. */
export interface TestRun {
  /** Empty when no file is selected. */
  readonly parts: readonly Part[];
  /** Whether the run begins with the checks. */
  readonly isChecked: boolean;
  /** Whether to print what each file costs. */
  readonly showsProcessorTime: boolean;
  /** Whether files that fail run once more, alone. */
  readonly isRetrying: boolean;
  /** Flags for Node's runner. */
  readonly flags: readonly string[];
  /** Parts of the selected files' paths. */
  readonly selectors: readonly string[];
}

/** The runner sorts the files: tests next to the code run before the black-box suite in `tests`. */
const patterns = ['examples', 'infra', 'libs', 'services', 'tests'].map((folder) => `${folder}/**/*.test.ts`);

/**
 * The suffix for files that start their own stacks or take ten seconds on a core. They take longer than all others
 * together.
 */
const slowSuffix = '.slow.test.ts';

/** The folder with the tests that run on both topologies. */
const scenarios = 'tests/scenarios/';

/** Selects what `npm test` leaves out and CI runs after it. */
const slowFlag = '--slow';
/** Selects every file, and every scenario everywhere it can run. */
const allFlag = '--all';
/** Runs the scenarios on several replicas of each service, behind PgBouncer, with three clustered NATS servers. */
const replicasFlag = '--replicas';
/** Runs one file at a time, and prints the most expensive files by processor time. */
const processorTimeFlag = '--processor-time';
/** Runs files that fail once more, alone, and names those that then pass. For CI on busy machines. */
const retryFlag = '--retry-failed';
const ownFlags = [slowFlag, allFlag, replicasFlag, processorTimeFlag, retryFlag];

const flagsWithValue = new Set(['--test-name-pattern', '--test-skip-pattern', '--test-concurrency', '--test-timeout']);

/** Reads the command line: this command's flags, flags for Node's runner, and parts of file paths. */
export function readTestRun(args: readonly string[]): TestRun {
  const isFlag = (arg: string, index: number): boolean =>
    arg.startsWith('-') || flagsWithValue.has(args[index - 1] ?? '');
  const selectors = args.filter((arg, index) => !isFlag(arg, index));
  const flags = args.filter((arg, index) => isFlag(arg, index) && !ownFlags.includes(arg));
  const has = (flag: string): boolean => args.includes(flag);
  const isSelected = selectors.length > 0;
  return {
    parts: partsOf(selectFiles(selectors), has, isSelected).filter((part) => part.files.length > 0),
    isChecked: !has(slowFlag) && !has(replicasFlag) && !isSelected && flags.length === 0,
    showsProcessorTime: has(processorTimeFlag),
    isRetrying: has(retryFlag),
    flags,
    selectors,
  };
}

function partsOf(files: readonly string[], has: (flag: string) => boolean, isSelected: boolean): readonly Part[] {
  if (has(replicasFlag)) return [partOnReplicas(files)];
  if (has(allFlag)) return [usualPart(files), ...slowParts(files, true)];
  if (has(slowFlag)) return slowParts(files, false);
  // Selected files run on both topologies.
  return [isSelected ? { title: 'Tests', files } : usualPart(files)];
}

const selectFiles = (selectors: readonly string[]): string[] =>
  globSync(patterns, { exclude: (name) => name === 'node_modules' })
    .filter((file) => selectors.length === 0 || selectors.some((selector) => file.includes(selector)))
    .sort();

const isSlowFile = (file: string): boolean => file.endsWith(slowSuffix);
const isScenario = (file: string): boolean => file.startsWith(scenarios);

/** The key in `scenarioRuns`. */
const nameOf = (file: string): string => file.slice(scenarios.length, -'.test.ts'.length);

/** One file at a time: a stack with replicas is a dozen processes and more. */
const partOnReplicas = (files: readonly string[]): Part => ({
  title: 'Scenarios on replicas',
  files: files.filter(isScenario),
  topology: 'replicas',
  environment: { TEST_BUS: 'cluster', TEST_DATABASE: 'pgbouncer' },
  flags: ['--test-concurrency=1'],
});

const usualPart = (files: readonly string[]): Part => ({
  title: 'Tests',
  files: files.filter((file) => !isSlowFile(file)),
  topology: 'one',
});

/** The slow files, and the scenarios that run elsewhere too: those that prove something there, or all that can. */
function slowParts(files: readonly string[], isAll: boolean): readonly Part[] {
  const slow = files.filter(isSlowFile);
  const scenarioFiles = files.filter(isScenario);
  const runs = (file: string, run: ScenarioRun): boolean => scenarioRuns[nameOf(file)]?.includes(run) === true;
  const environment: Readonly<Record<string, string>> = isAll ? {} : { TEST_TOPOLOGIES: 'fewest' };
  return [
    { title: 'Slow tests', files: slow.filter((file) => !isScenario(file)), environment },
    {
      title: 'Slow scenarios',
      files: slow.filter((file) => isScenario(file) && (isAll || !runs(file, 'wire'))),
      topology: 'one',
      environment,
    },
    {
      title: 'Scenarios on separate processes',
      files: scenarioFiles.filter((file) => isAll || runs(file, 'wire')),
      topology: 'processes',
      environment,
    },
    {
      title: 'Scenarios through the client',
      files: scenarioFiles.filter((file) => runs(file, 'client') || (isAll && runs(file, 'clientInAll'))),
      topology: 'one',
      environment: { TEST_THROUGH: 'client' },
    },
  ];
}
