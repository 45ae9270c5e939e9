import { messageOf } from '@recordbus/errors';
import { createExtensionHost } from '@recordbus/extension-host';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import type { Config } from '@recordbus/process/config';
import { createLogger } from '@recordbus/process/logging';
import type { commandVariables } from '../deployment/variables.ts';
import { broken, type Finding, fine } from './finding.ts';

/** Examines whether the extension directory exists and each extension loads. Runs no hooks, routes or crons. */
export async function examineExtensions(config: Config<typeof commandVariables>): Promise<Finding[]> {
  try {
    const found = await findExtensionsConfig(config);
    if (!found || found.isAwaited) return [];
    const host = createExtensionHost({ ...found, followsChanges: false, log: createLogger('doctor', 'silent') });
    try {
      await host.start();
      const names = host.extensions.map(({ name }) => name);
      return [
        fine('extensions', names.length === 0 ? `none in ${found.directory}` : names.join(', ')),
        ...host.problems.map(({ name, problem }) =>
          broken('extensions', `${name} cannot be loaded: ${sentenceOf(problem)}`, 'The others work without it.'),
        ),
      ];
    } finally {
      await host.stop();
    }
  } catch (error) {
    const reason = messageOf(error);
    return [
      broken('extensions', reason, 'The records service will not start: create the directory, or name another one.'),
    ];
  }
}

/** Returns one line for the table. A syntax error's first line only names its place. */
function sentenceOf(problem: string): string {
  const [first = '', ...others] = problem.split('\n');
  const sentence = /:\d+$/.test(first) && others.find((line) => /^\w*Error\b/.test(line));
  return sentence ? `${sentence} (${first})` : first;
}
