import type { Variable } from '@recordbus/process/config';
import { startPart } from '@recordbus/process/lifecycle';
import { announceReady, type ProcessParts, runProcess } from '@recordbus/process/run-process';
import type { ContextSigner } from '@recordbus/request/context';
import { endRequests, listen } from './index.ts';
import type { Service } from './service.ts';
import { createServiceApp } from './service-app.ts';
import { warmUp } from './warm-up.ts';

interface RunnableService {
  readonly service: Service;
  readonly contextSigner: ContextSigner;
  readonly setupToken?: string | undefined;
}

/** Runs one service alone in a process, answering requests that carry the gateway's signed context. */
export function runService<V extends Record<string, Variable>>(
  name: string,
  variables: V,
  build: (parts: ProcessParts<V>) => Promise<RunnableService>,
): Promise<void> {
  return runProcess(name, variables, async (parts) => {
    const { config, log, lifecycle, metrics } = parts;
    const { service, contextSigner, setupToken } = await build(parts);
    await startPart(lifecycle, name, service);
    const app = createServiceApp(service, contextSigner, log, metrics);
    const server = await listen(app, {
      ...config,
      isBehindGateway: true,
      acceptsWebSockets: service.upgrade !== undefined,
      log,
      metrics,
    });
    lifecycle.onStop('requests', () => endRequests(server, [service]));
    log.info({ url: server.url }, 'listening');
    announceReady({ name, url: server.url, ...(setupToken && { setupToken }) });
    void warmUp([service], log);
  });
}
