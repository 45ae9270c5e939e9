import { findExtensions, findExtensionsConfig } from '@recordbus/extension-host';
import type { Config } from '@recordbus/shared/config';
import type { commandVariables } from '../deployment/variables.ts';
import { broken, type Finding, fine } from './finding.ts';

/** Is the directory of the extensions there, and what is in it? Their code is not run. */
export async function examineExtensions(config: Config<typeof commandVariables>): Promise<Finding[]> {
  try {
    const found = await findExtensionsConfig(config);
    if (!found) return [];
    const names = (await findExtensions(found.directory)).map(({ name }) => name);
    return [fine('extensions', names.length === 0 ? `none in ${found.directory}` : names.join(', '))];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [
      broken('extensions', reason, 'The records service does not start so: make the directory, or name another.'),
    ];
  }
}
