import type { Variable } from './config.ts';
import type { ContextSigner } from './context.ts';
import { endRequests, listen } from './http/index.ts';
import { createServiceApp } from './http/service-app.ts';
import { startPart } from './lifecycle.ts';
import { announceReady, type ProcessParts, runProcess } from './run-process.ts';
import type { Service } from './service.ts';
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
