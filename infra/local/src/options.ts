import { adminVariables } from '@recordbus/admin/config';
import { authVariables } from '@recordbus/auth/config';
import { eventStreamMaxBytes } from '@recordbus/bus/config';
import { extensionVariables } from '@recordbus/extension-host/config';
import { answerTimeoutMs } from '@recordbus/gateway/config';
import { ConfigError, databaseUrl, natsUrl, port, variable } from '@recordbus/process/config';
import { ownVariables } from '@recordbus/records/config';

/** The stack has its own servers and takes a free port, so variables that a single service requires are optional. */
export const localVariables = {
  ...adminVariables,
  ...authVariables,
  eventStreamMaxBytes,
  ...ownVariables,
  ...extensionVariables,
  answerTimeoutMs,
  databaseUrl: variable(databaseUrl.name, databaseUrl.about, databaseUrl.schema.optional()),
  natsUrl: variable(natsUrl.name, natsUrl.about, natsUrl.schema.optional()),
  port: variable(port.name, port.about, port.schema.removeDefault().optional()),
};

interface LocalOptions {
  /** Whether each service runs in its own process, over HTTP, as in production. */
  readonly separateProcesses: boolean;
}

/** Reads the command line. Throws ConfigError for an unknown argument. */
export function readArguments(args: readonly string[]): LocalOptions {
  const unknown = args.find((arg) => arg !== '--processes');
  if (unknown) throw new ConfigError(`${unknown} is not an option; the only one is --processes.`);
  return { separateProcesses: args.includes('--processes') };
}
