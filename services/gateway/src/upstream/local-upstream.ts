import { checkReadiness, describeRoutes } from '@recordbus/shared/http';
import { readMetrics } from '@recordbus/shared/metrics';
import type { Service } from '@recordbus/shared/service';
import type { Upstream } from './upstream.ts';

/** A service in this process: it gets the very request, response and context. Starting and stopping it is not ours. */
export const localUpstream = (service: Service): Upstream => ({
  name: service.name,
  async start(onRoutes) {
    const tell = () => onRoutes(describeRoutes(service.routes));
    tell();
    service.onRoutesChange?.(tell);
  },
  forward: service.handle,
  ready: () => checkReadiness(service.checks, service.dispensable),
  metrics: async () => [{ instance: undefined, families: service.metrics ? await readMetrics(service.metrics) : [] }],
  describe: async ({ principal }) => service.describe?.(principal),
  stop: async () => {},
});
