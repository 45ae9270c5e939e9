import { createExtensionHost } from '@recordbus/extension-host';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import type { Config } from '@recordbus/shared/config';
import { createLogger } from '@recordbus/shared/logging';
import type { commandVariables } from '../deployment/variables.ts';
import { broken, type Finding, fine } from './finding.ts';

/** Is the directory of the extensions there, and does each of them load? None of their hooks, routes and crons is run. */
export async function examineExtensions(config: Config<typeof commandVariables>): Promise<Finding[]> {
  try {
    const found = await findExtensionsConfig(config);
    if (!found) return [];
    const host = createExtensionHost({ ...found, followsChanges: false, log: createLogger('doctor', 'silent') });
    try {
      await host.start();
      const names = host.extensions.map(({ name }) => name);
      return [
        fine('extensions', names.length === 0 ? `none in ${found.directory}` : names.join(', ')),
        ...host.problems.map(({ name, problem }) =>
          broken('extensions', `${name} can not be loaded: ${sentenceOf(problem)}`, 'The others work without it.'),
        ),
      ];
    } finally {
      await host.stop();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [
      broken('extensions', reason, 'The records service does not start so: make the directory, or name another.'),
    ];
  }
}

/** A line for a table. Of an error in the text of a file the first line is only the place. */
function sentenceOf(problem: string): string {
  const [first = '', ...others] = problem.split('\n');
  const sentence = /:\d+$/.test(first) && others.find((line) => /^\w*Error\b/.test(line));
  return sentence ? `${sentence} (${first})` : first;
}
