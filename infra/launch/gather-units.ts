import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How many unit test files run in one process: more would let it end the run alone. */
const filesInProcess = 12;

const unitTest = /^(libs|services)\/[^/]+/;

/** A hook outside a suite would run for the other files' tests too. */
const hookOutsideSuite = /^(before|after)(Each)?\(/m;

/** Files about something that a whole process has, such as its list of running tasks. */
const aboutTheirProcess: readonly string[] = ['libs/process/src/background/running-tasks.test.ts'];

/**
 * Writes files into the directory that import a package's unit tests, and returns what to run instead: most unit tests
 * take less processor time than their process takes to load the package. Other files, those with hooks outside a suite,
 * and those about their process run alone.
 */
export function gatherUnits(files: readonly string[], directory: string): string[] {
  const runsAlone = (file: string) =>
    aboutTheirProcess.includes(file) || hookOutsideSuite.test(readFileSync(file, 'utf8'));
  const packageOf = (file: string) => (runsAlone(file) ? undefined : unitTest.exec(file)?.[0]);
  const { '': alone = [], ...packages } = Object.groupBy(files, (file) => packageOf(file) ?? '');
  const gathered = Object.entries(packages).flatMap(([name, own = []]) =>
    chunksOf(own).map((some, index) => {
      const file = join(directory, `${name.replace('/', '-')}-${index + 1}.test.mjs`);
      writeFileSync(file, some.map((one) => `import ${JSON.stringify(pathToFileURL(one).href)};\n`).join(''));
      return file;
    }),
  );
  return [...gathered, ...alone];
}

const chunksOf = (files: readonly string[]): readonly (readonly string[])[] => {
  const count = Math.ceil(files.length / filesInProcess);
  return Array.from({ length: count }, (_, index) => files.filter((_file, place) => place % count === index));
};
