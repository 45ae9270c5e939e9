import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError, dataDirectory, variable, wholeNumber } from '@recordbus/process/config';
import { z } from 'zod';
import { isDirectory } from './await-directory.ts';

const extensionsDirectory = variable(
  'SERVICE_EXTENSIONS_DIR',
  'Extension directory; by default the directory extensions in the data directory, if it exists.',
  z.string().optional(),
);

/** The extensions' environment variables. */
export const extensionVariables = {
  dataDirectory,
  extensionsDirectory,
  extensionWorkers: variable(
    'SERVICE_EXTENSIONS_WORKERS',
    'How many calls to one extension a process runs at once, each in its own worker.',
    wholeNumber(1, 64).default(4),
  ),
  extensionJobWorkers: variable(
    'SERVICE_EXTENSIONS_JOB_WORKERS',
    'How many jobs of one extension a process runs at once, each in its own process; 0 for none.',
    wholeNumber(0, 64).default(2),
  ),
  extensionMemoryMb: variable(
    'SERVICE_EXTENSIONS_MEMORY_MB',
    'Memory limit for an extension worker, in MiB.',
    wholeNumber(16, 4096).default(128),
  ),
};

/** How a process runs extensions. */
export interface ExtensionsConfig {
  readonly directory: string;
  /** Whether the directory is missing, and is loaded as soon as it exists. */
  readonly isAwaited: boolean;
  /** How many workers one extension has. */
  readonly maxWorkers: number;
  /** How many jobs of one extension run at once. */
  readonly maxJobWorkers: number;
  readonly memoryMb: number;
  /** Whether changes in the directory are loaded while the process runs. */
  readonly followsChanges: boolean;
}

/**
 * Finds the extension directory; undefined if there is none and changes are not followed. Throws ConfigError when a
 * named directory does not exist.
 */
export async function findExtensionsConfig(
  config: Config<typeof extensionVariables>,
): Promise<ExtensionsConfig | undefined> {
  const named = config.extensionsDirectory;
  const directory = named ?? join(config.dataDirectory, 'extensions');
  const followsChanges = process.env.NODE_ENV !== 'production';
  const exists = await isDirectory(directory);
  if (!exists && named !== undefined)
    throw new ConfigError(`${extensionsDirectory.name} is not an existing directory: ${named}.`);
  if (!exists && !(followsChanges && (await isDirectory(config.dataDirectory)))) return undefined;
  return {
    directory: exists ? await realpath(directory) : join(await realpath(config.dataDirectory), 'extensions'),
    isAwaited: !exists,
    maxWorkers: config.extensionWorkers,
    maxJobWorkers: config.extensionJobWorkers,
    memoryMb: config.extensionMemoryMb,
    followsChanges,
  };
}
