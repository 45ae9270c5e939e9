import { randomUUID } from 'node:crypto';
import { type ContextSealer, contextHeader } from '@recordbus/shared/context';
import type { Readiness } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { z } from 'zod';
import { Endpoints } from './endpoints.ts';
import { forwardOverHttp } from './forward-over-http.ts';
import { pollManifest } from './poll-manifest.ts';
import type { Upstream } from './upstream.ts';

interface HttpUpstreamOptions {
  readonly name: string;
  /** Address of the service; every address that its name resolves to is a replica. */
  readonly url: string;
  readonly sealer: ContextSealer;
  readonly log: Logger;
  /** Longest wait for the head of an answer, and for each next part of it, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Every address of a host name, as the resolver of the machine says by default. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/** Longest wait for an answer to the gateway's own questions, in milliseconds. */
const questionTimeoutMs = 2000;

const readiness = z.object({ data: z.object({ checks: z.record(z.string(), z.string()) }) });

/** A service in a process of its own, or in several. */
export function httpUpstream(options: HttpUpstreamOptions): Upstream {
  const { name, sealer, log, answerTimeoutMs } = options;
  const endpoints = new Endpoints({
    name,
    url: new URL(options.url),
    log,
    answerTimeoutMs,
    ...(options.resolve && { resolve: options.resolve }),
    onReconnect: () => manifest.refresh(),
  });

  async function ask(path: string): Promise<{ status: number; body: unknown }> {
    const endpoint = endpoints.pick();
    if (!endpoint) throw new Error('the name does not resolve');
    const { statusCode, body } = await endpoint.pool.request({
      method: 'GET',
      path,
      headers: { [contextHeader]: sealer.seal(ownContext()) },
      headersTimeout: questionTimeoutMs,
      bodyTimeout: questionTimeoutMs,
    });
    return { status: statusCode, body: await body.json() };
  }

  const manifest = pollManifest({ name, log, ask });

  return {
    name,
    async start(onRoutes) {
      await endpoints.start();
      await manifest.start(onRoutes);
    },
    forward: forwardOverHttp(name, endpoints, sealer),
    async ready(): Promise<Readiness> {
      try {
        const { status, body } = await ask('/readyz');
        const { checks } = readiness.parse(body).data;
        if (!manifest.isKnown()) return { ready: false, checks: { ...checks, routes: 'not told yet' } };
        return { ready: status === 200, checks };
      } catch (error) {
        return { ready: false, checks: { connection: error instanceof Error ? error.message : String(error) } };
      }
    },
    async stop() {
      manifest.stop();
      await endpoints.stop();
    },
  };
}

/** The context of a request that the gateway makes for itself. */
const ownContext = () => ({
  requestId: randomUUID(),
  traceparent: acceptTraceparent(undefined),
  principal: { type: 'guest', rejectedToken: false } as const,
  clientAddress: '',
});
