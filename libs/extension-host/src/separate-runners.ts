import { constants } from 'node:os';
import { createRunnerProcess, type RunnerProcess } from './runner-process.ts';

/**
 * Creates a runner with a process for each worker, so that what ends a process ends one call only. The processes give
 * way to requests' workers and to the service when processor time is short.
 */
export function createSeparateRunners(): RunnerProcess {
  const runners = new Set<RunnerProcess>();
  return {
    start(options, { onMessage, onEnd }) {
      const runner = createRunnerProcess({ priority: constants.priority.PRIORITY_BELOW_NORMAL });
      runners.add(runner);
      return runner.start(options, {
        onMessage,
        onEnd(reason) {
          void runner.stop().finally(() => runners.delete(runner));
          onEnd(reason);
        },
      });
    },
    async stop() {
      await Promise.all([...runners].map((runner) => runner.stop()));
    },
  };
}
