import { constants } from 'node:os';
import { type Config, ConfigError, loadConfig } from '@recordbus/shared/config';
import { AppError } from '@recordbus/shared/errors';
import { createLifecycle, type Lifecycle } from '@recordbus/shared/lifecycle';
import { createLogger, type Logger } from '@recordbus/shared/logging';
import { commandVariables } from './deployment/variables.ts';
import { CommandFailure, exitCodes, isSystemError } from './failure.ts';
import { createTerminal, type Refusal, type Terminal } from './terminal.ts';

/** What the work of a command stands on. */
export interface CommandParts {
  /** As it is typed: "backup create". */
  readonly name: string;
  readonly config: Config<typeof commandVariables>;
  /** Silent: what libraries log is for services. */
  readonly log: Logger;
  /** Whatever the command opens is closed with it, also at Ctrl-C. */
  readonly lifecycle: Lifecycle;
  readonly terminal: Terminal;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
}

/**
 * Runs one command to its end and ends the process: with what the work answers, 0 if that is nothing, and with another
 * code and a sentence when it throws or a signal stops it.
 */
export async function runCommand(
  name: string,
  { json = false }: CommonOptions,
  work: (parts: CommandParts) => Promise<number | undefined>,
): Promise<void> {
  const terminal = createTerminal(json);
  const log = createLogger('cli', 'silent');
  let isStopped = false;
  const lifecycle = createLifecycle({
    log,
    onSignal(signal) {
      isStopped = true;
      terminal.refuse({ error: `${signal} stopped ${name} before it was done.`, code: 'stopped' });
      return 128 + constants.signals[signal];
    },
  });
  let code: number = exitCodes.failed;
  try {
    const config = loadConfig(commandVariables);
    code = (await work({ name, config, log, lifecycle, terminal })) ?? exitCodes.done;
  } catch (error) {
    // What fails since everything is being closed needs no word.
    if (!isStopped) terminal.refuse(refusalOf(error));
    if (error instanceof ConfigError) code = exitCodes.config;
  }
  await lifecycle.stop('the command has ended', code);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof AppError) return error.toBody();
  if (error instanceof ConfigError) return { error: error.message, code: 'configuration' };
  if (error instanceof CommandFailure) return { error: error.message, code: 'refused' };
  if (isSystemError(error)) return { error: `The system refuses it: ${error.message}.`, code: 'refused' };
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error), code: 'internal_error' };
}
