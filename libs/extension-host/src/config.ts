import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError, dataDirectory, variable, wholeNumber } from '@recordbus/shared/config';
import { z } from 'zod';

const extensionsDirectory = variable(
  'SERVICE_EXTENSIONS_DIR',
  'Directory of the extensions; the directory extensions in the data directory, if it is there, when not set.',
  z.string().optional(),
);

/** The variables that extensions are configured with. */
export const extensionVariables = {
  dataDirectory,
  extensionsDirectory,
  extensionWorkers: variable(
    'SERVICE_EXTENSIONS_WORKERS',
    'How many calls of one extension a process runs at once, each in a worker of its own.',
    wholeNumber(1, 64).default(4),
  ),
  extensionMemoryMb: variable(
    'SERVICE_EXTENSIONS_MEMORY_MB',
    'How much memory, in MiB, a worker of an extension may use.',
    wholeNumber(16, 4096).default(128),
  ),
};

/** How the extensions of a process are run. */
export interface ExtensionsConfig {
  readonly directory: string;
  /** Of one extension. */
  readonly maxWorkers: number;
  readonly memoryMb: number;
  /** Are changes of the directory loaded while the process runs? */
  readonly followsChanges: boolean;
}

/**
 * Finds the directory of the extensions; undefined when there are none. Throws ConfigError when one is named that is
 * not there.
 */
export async function findExtensionsConfig(
  config: Config<typeof extensionVariables>,
): Promise<ExtensionsConfig | undefined> {
  const named = config.extensionsDirectory;
  const directory = named ?? join(config.dataDirectory, 'extensions');
  const isThere = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere && named !== undefined)
    throw new ConfigError(`${extensionsDirectory.name} is not a directory that is there: ${named}.`);
  if (!isThere) return undefined;
  return {
    directory: await realpath(directory),
    maxWorkers: config.extensionWorkers,
    memoryMb: config.extensionMemoryMb,
    followsChanges: process.env.NODE_ENV !== 'production',
  };
}
