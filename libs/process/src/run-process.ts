import { type Config, ConfigError, host, loadConfig, logFormat, logLevel, port, type Variable } from './config.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLogger, type Logger, setLogFormat } from './logging.ts';
import { createProcessMetrics, type Metrics } from './metrics/index.ts';
import { StartFailure, systemRefusal } from './start-failure.ts';
import { startTelemetry } from './telemetry.ts';

/** Exit code for a start that the configuration stopped (sysexits.h, EX_CONFIG). */
const configExitCode = 78;

const processVariables = { port, host, logLevel, logFormat };

export interface ProcessParts<V extends Record<string, Variable>> {
  readonly config: Config<V & typeof processVariables>;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  /** This process's metrics; its connections add theirs. */
  readonly metrics: Metrics;
}

/** The message to the parent process, over its IPC channel, once requests are answered. */
export interface ReadyMessage {
  readonly ready: true;
  readonly name: string;
  readonly url: string;
  readonly setupToken?: string;
}

/** Notifies the parent process, if it listens, that this one is ready. */
export const announceReady = (message: Omit<ReadyMessage, 'ready'>): void => {
  process.send?.({ ready: true, ...message });
};

/**
 * Runs a process's main function: sets up configuration, log, tracing and lifecycle, then calls `main`, which starts
 * the parts. An invalid configuration ends the process with its sentences on standard error and exit code 78. After any
 * other error the started parts are stopped and the exit code is 1: an external cause is a sentence on standard error,
 * a defect is logged. `exit` is called when everything has stopped, and ends the process.
 */
export async function runProcess<V extends Record<string, Variable>>(
  name: string,
  variables: V,
  main: (parts: ProcessParts<V>) => Promise<void>,
  exit: (code: number) => void = process.exit,
): Promise<void> {
  const config = loadOrExit({ ...processVariables, ...variables });
  setLogFormat(config.logFormat ?? (process.stdout.isTTY ? 'text' : 'json'));
  const log = createLogger(name, config.logLevel);
  const lifecycle = createLifecycle({ log, exit });
  try {
    lifecycle.onStop('telemetry', await startTelemetry(name));
    await main({ config, log, lifecycle, metrics: createProcessMetrics(name) });
  } catch (error) {
    if (error instanceof ConfigError) exitForConfig(error);
    const sentence = error instanceof StartFailure ? error.message : systemRefusal(error);
    if (sentence === undefined) log.fatal({ err: error }, 'the start failed');
    else process.stderr.write(`${sentence}\n`);
    await lifecycle.stop('the start failed', 1);
  }
}

function loadOrExit<V extends Record<string, Variable>>(variables: V): Config<V> {
  try {
    return loadConfig(variables);
  } catch (error) {
    if (error instanceof ConfigError) exitForConfig(error);
    throw error;
  }
}

function exitForConfig(error: ConfigError): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(configExitCode);
}
