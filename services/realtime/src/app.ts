import { createDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { Service } from '@recordbus/shared/service';

interface RealtimeDeps {
  readonly log: Logger;
}

/** Creates the realtime service: connections that stay open and tell their clients what changes. */
export function createRealtime({ log }: RealtimeDeps): Service {
  return {
    name: 'realtime',
    routes: [],
    handle: createDispatcher([], { log, mapError: () => undefined }),
    checks: {},
    start: async () => {},
    stop: async () => {},
  };
}
