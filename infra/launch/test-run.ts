import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { type ScenarioRun, scenarioRuns } from './scenario-runs.ts';

/** A part of a test run, with its own files. */
export interface Part {
  readonly title: string;
  /** In the order in which they start. */
  readonly files: readonly string[];
  /** The topology for the scenarios' stacks; both by default. */
  readonly topology?: 'one' | 'processes' | 'replicas';
  /** The run's variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How many files run at once. */
  readonly concurrency: number;
  /** Whether a package's unit tests share processes. */
  readonly gathersUnits?: boolean;
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
  readonly retriesFailed: boolean;
  /** How many files run at once, instead of the parts' numbers. */
  readonly concurrency: number | undefined;
  /** How long a test may take. */
  readonly timeoutMs: number | undefined;
  readonly testNamePatterns: readonly string[];
  readonly testSkipPatterns: readonly string[];
  /** The commit that upgrade tests start from, instead of the last release's. */
  readonly from: string | undefined;
  /** Parts of the selected files' paths. */
  readonly selectors: readonly string[];
}

/** Tests next to the code run before the black-box suite in `tests`. */
const patterns = ['examples', 'infra', 'libs', 'services', 'tests'].map((folder) => `${folder}/**/*.test.ts`);

/**
 * The suffix for files that start their own stacks or take ten seconds on a core. They take longer than all others
 * together.
 */
const slowSuffix = '.slow.test.ts';

/** Slow files that take half a minute or more on a quiet machine start first, so that none ends the run alone. */
const longest = [
  'behind-proxies',
  'bus-cluster',
  'cli/backup',
  'cli/key-file',
  'cli/piped-output',
  'export-limits',
  'extensions',
  'fuzz',
  'hostile-text.slow',
  'strain',
  'screens',
  'unread-answers',
];

/** Tests that `npm run check` runs, and so `npm test` before the others. */
export const testsInCheck: readonly string[] = globSync([
  'infra/layers/*.test.ts',
  'infra/docs/src/conflict-markers.test.ts',
]);

/** The folder with the tests that run on both topologies. */
const scenarios = 'tests/scenarios/';

/** This command's flags. The ones that begin with `test-` are called as in `node --test`. */
const flags = {
  /** Selects what `npm test` leaves out and CI runs after it. */
  slow: { type: 'boolean' },
  /** Selects every file, and every scenario everywhere it can run. */
  all: { type: 'boolean' },
  /** Runs the scenarios on several replicas of each service, behind PgBouncer, with three clustered NATS servers. */
  replicas: { type: 'boolean' },
  /** Runs one file at a time, and prints the most expensive files by processor time. */
  'processor-time': { type: 'boolean' },
  /** Runs files that fail once more, alone, and names those that then pass. For CI, where one chance costs a whole run. */
  'retry-failed': { type: 'boolean' },
  'test-name-pattern': { type: 'string', multiple: true },
  'test-skip-pattern': { type: 'string', multiple: true },
  'test-concurrency': { type: 'string' },
  'test-timeout': { type: 'string' },
  from: { type: 'string' },
} as const;

/** Reads the command line: flags and parts of file paths. Throws on an unknown flag. */
export function readTestRun(args: readonly string[]): TestRun {
  const { values, positionals: selectors } = parseArgs({ args: [...args], options: flags, allowPositionals: true });
  const isForRunner = Object.keys(values).some((name) => name.startsWith('test-'));
  const isSelected = selectors.length > 0;
  return {
    parts: partsOf(selectFiles(selectors), values, isSelected).filter((part) => part.files.length > 0),
    isChecked: !values.slow && !values.replicas && !isSelected && !isForRunner,
    showsProcessorTime: values['processor-time'] === true,
    retriesFailed: values['retry-failed'] === true,
    concurrency: numberOf(values['test-concurrency']),
    timeoutMs: numberOf(values['test-timeout']),
    testNamePatterns: values['test-name-pattern'] ?? [],
    testSkipPatterns: values['test-skip-pattern'] ?? [],
    from: values.from,
    selectors,
  };
}

interface Selection {
  readonly slow?: boolean;
  readonly all?: boolean;
  readonly replicas?: boolean;
}

function partsOf(files: readonly string[], { slow, all, replicas }: Selection, isSelected: boolean): readonly Part[] {
  if (replicas) return [partOnReplicas(files)];
  if (all) return [usualPart(files), ...slowParts(files, true)];
  if (slow) return slowParts(files, false);
  // Selected files run on both topologies.
  return [isSelected ? { title: 'Tests', files, concurrency } : usualPart(files)];
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

/** More than two cores can run at once, because tests mostly wait. */
const concurrency = 4;

/** Tests with faults wait longer: for leases, timeouts and restarts. */
const slowConcurrency = 5;

/**
 * Returns slow files in the order in which they start: the longest first, then by name. A folder's files are alike. By
 * name, those that wait run next to those that compute.
 */
function inStartOrder(files: readonly string[]): string[] {
  const keyOf = (file: string): string => `${longest.some((part) => file.includes(part)) ? 0 : 1} ${basename(file)}`;
  return files.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
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
  concurrency: 1,
});

const usualPart = (files: readonly string[]): Part => ({
  title: 'Tests',
  files: files.filter((file) => !isSlowFile(file) && !testsInCheck.includes(file)),
  topology: 'one',
  concurrency,
  gathersUnits: true,
});

/** The slow files, and the scenarios that run elsewhere too: those that prove something there, or all that can. */
function slowParts(files: readonly string[], isAll: boolean): readonly Part[] {
  const slow = files.filter(isSlowFile);
  const scenarioFiles = files.filter(isScenario);
  const runs = (file: string, run: ScenarioRun): boolean => scenarioRuns[nameOf(file)]?.includes(run) === true;
  const environment: Readonly<Record<string, string>> = isAll ? {} : { TEST_TOPOLOGIES: 'fewest' };
  return [
    {
      title: 'Slow tests',
      files: inStartOrder(slow.filter((file) => isAll || !isScenario(file) || !runs(file, 'wire'))),
      topology: 'one',
      environment,
      concurrency: slowConcurrency,
    },
    {
      title: 'Scenarios on separate processes',
      files: inStartOrder(scenarioFiles.filter((file) => isAll || runs(file, 'wire'))),
      topology: 'processes',
      environment,
      concurrency,
    },
    {
      title: 'Scenarios through the client',
      files: scenarioFiles.filter((file) => runs(file, 'client') || (isAll && runs(file, 'clientInAll'))),
      topology: 'one',
      environment: { TEST_THROUGH: 'client' },
      concurrency,
    },
  ];
}
