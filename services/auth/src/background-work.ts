import type { Logger } from '@recordbus/process/logging';
import { afterRequest } from '@recordbus/request/request-scope';

/** Runs work after its request's answer; `stop` waits until all is done. */
export function createBackgroundWork(log: Logger) {
  const running = new Set<Promise<void>>();
  return {
    run(work: () => Promise<void>): void {
      const mine = afterRequest(work)
        .catch((error) => log.error({ err: error }, 'background work failed'))
        .finally(() => running.delete(mine));
      running.add(mine);
    },
    async stop(): Promise<void> {
      await Promise.all(running);
    },
  };
}
