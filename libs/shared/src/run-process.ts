import { type Config, ConfigError, host, loadConfig, logLevel, port, type Variable } from './config.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLogger, type Logger } from './logging.ts';
import { createProcessMetrics, type Metrics } from './metrics/index.ts';
import { startTelemetry } from './telemetry.ts';

/** Exit code of a start that the configuration stopped (sysexits.h, EX_CONFIG). */
const configExitCode = 78;

const processVariables = { port, host, logLevel };

export interface ProcessParts<V extends Record<string, Variable>> {
  readonly config: Config<V & typeof processVariables>;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  /** What this process measures about itself, for its connections to add to. */
  readonly metrics: Metrics;
}

/** What the process that started this one is told once requests are answered (over its IPC channel, if there is one). */
export interface ReadyMessage {
  readonly ready: true;
  readonly name: string;
  readonly url: string;
  readonly setupToken?: string;
}

/** Tells the parent process, if it listens, that this one is ready. */
export const announceReady = (message: Omit<ReadyMessage, 'ready'>): void => {
  process.send?.({ ready: true, ...message });
};

/**
 * Runs the main function of a process: configuration, log, tracing and the order of stopping are set up, then `main`
 * starts its parts. A bad configuration ends the process with its sentences on standard error; whatever else is thrown
 * is logged, what was started is stopped, and the exit code is 1.
 */
export async function runProcess<V extends Record<string, Variable>>(
  name: string,
  variables: V,
  main: (parts: ProcessParts<V>) => Promise<void>,
): Promise<void> {
  const config = loadOrExit({ ...processVariables, ...variables });
  const log = createLogger(name, config.logLevel);
  const lifecycle = createLifecycle({ log });
  try {
    lifecycle.onStop('telemetry', await startTelemetry(name));
    await main({ config, log, lifecycle, metrics: createProcessMetrics(name) });
  } catch (error) {
    if (error instanceof ConfigError) exitForConfig(error);
    log.fatal({ err: error }, 'the start failed');
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
