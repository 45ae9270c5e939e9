import { constants } from 'node:os';
import { type EncryptionKey, findEncryptionKey } from '@recordbus/crypto';
import { AppError } from '@recordbus/errors';
import { type Config, ConfigError, loadConfig } from '@recordbus/process/config';
import { createLifecycle, type Lifecycle } from '@recordbus/process/lifecycle';
import { createLogger, type Logger } from '@recordbus/process/logging';
import { StartFailure } from '@recordbus/process/start-failure';
import { CommandFailure, isSystemError } from '@recordbus/stack-calls';
import { commandVariables } from './deployment/variables.ts';
import { exitCodes } from './exit-codes.ts';
import { createExit, onLostOutput } from './output-end.ts';
import { type CommandRefusal, createTerminal, type Terminal } from './terminal.ts';

/** A command's dependencies. */
export interface CommandParts {
  /** The name as typed: "backup create". */
  readonly name: string;
  readonly config: Config<typeof commandVariables>;
  /** The key that encrypts stored values. */
  readonly key: EncryptionKey;
  /** Silent, because libraries' log messages are meant for services. */
  readonly log: Logger;
  /** Closes everything that the command opened, even at Ctrl-C. */
  readonly lifecycle: Lifecycle;
  readonly terminal: Terminal;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
}

/**
 * Runs one command and ends the process when all its output is read. The exit code is what `work` returns, or 0. When
 * `work` throws or a signal stops it, prints a sentence and exits with another code.
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
    exit: createExit(),
    onSignal(signal) {
      isStopped = true;
      terminal.refuse({ error: `${signal} stopped ${name} before it was done.`, code: 'stopped' });
      return 128 + constants.signals[signal];
    },
  });
  onLostOutput((lost) => {
    isStopped = true;
    void lifecycle.stop('the output is lost', lost);
  });
  let code: number = exitCodes.failed;
  try {
    const config = loadConfig(commandVariables);
    const key = findEncryptionKey(config);
    code = (await work({ name, config, key, log, lifecycle, terminal })) ?? exitCodes.done;
  } catch (error) {
    // Errors caused by closing everything are not reported.
    if (!isStopped) terminal.refuse(commandRefusalOf(error));
    if (error instanceof ConfigError) code = exitCodes.config;
  }
  await lifecycle.stop('the command has ended', code);
}

/** What an error says after a stack has refused the caller with 401. */
export const tokenAdvice = "give an admin's token or a service key in SERVICE_KEY";

function commandRefusalOf(error: unknown): CommandRefusal {
  // Only a stack that a command calls asks for a token.
  if (error instanceof AppError && error.status === 401)
    return { ...error.toBody(), error: `${error.message}: ${tokenAdvice}` };
  if (error instanceof AppError) return error.toBody();
  if (error instanceof ConfigError) return { error: error.message, code: 'configuration' };
  if (error instanceof CommandFailure || error instanceof StartFailure)
    return { error: error.message, code: 'refused' };
  if (isSystemError(error)) return { error: `The system refused it: ${error.message}.`, code: 'refused' };
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error), code: 'internal_error' };
}
