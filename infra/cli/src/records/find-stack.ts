import { type ApiAddress, CommandFailure } from '@recordbus/stack-calls';
import type { TargetOptions } from '../api/target-options.ts';
import { findRunning } from '../deployment/find-servers.ts';
import type { CommandParts } from '../run-command.ts';

/** Finds the stack at `--url`, or else the one that runs on the data directory. Throws CommandFailure without one. */
export async function findStack(
  { config }: Pick<CommandParts, 'config'>,
  { url, key = config.serviceKey }: TargetOptions,
): Promise<ApiAddress> {
  if (url !== undefined) return { url, key };
  const running = await findRunning(config.dataDirectory);
  if (!running) throw new CommandFailure(`No stack runs on ${config.dataDirectory}: name one with --url.`);
  return { url: running.url, key };
}
