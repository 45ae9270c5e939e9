import type { Logger } from '@recordbus/shared/logging';
import { type GatewayResponse, isProbe } from './exchange.ts';
import { pathOf } from './request-head.ts';

/**
 * Makes the listener that writes a line for each answer, to be called on the response when it closes: when all was
 * sent, or the client went away before that (`aborted`).
 */
export function accessLog(log: Logger): (this: GatewayResponse) => void {
  // The line has these fields and no others, so there is nothing to look for and remove, at twice the cost of the line.
  const lines = log.child({}, { redact: [] });
  return function logAccess() {
    const { exchange } = this.locals;
    if (isProbe(exchange)) return;
    const { context, route, startedAtMs, bytesSentBefore, forwardedAtMs } = exchange;
    const { principal, requestId, traceparent, clientAddress } = context;
    const { method, url, socket } = this.req;
    lines.info(
      {
        method,
        path: pathOf(url),
        route: route?.paths[0],
        upstream: route?.upstream.name,
        status: this.statusCode,
        duration_ms: rounded(performance.now() - startedAtMs),
        upstream_ms:
          forwardedAtMs === undefined
            ? undefined
            : rounded((exchange.answeredAtMs ?? performance.now()) - forwardedAtMs),
        bytes: socket.bytesWritten - bytesSentBefore,
        rate_rule: exchange.rateRule,
        ip: clientAddress,
        principal_type: principal.type,
        principal_id: principal.type === 'guest' ? undefined : principal.id,
        auth_impersonated_by: principal.type === 'user' ? (principal.impersonatedBy ?? undefined) : undefined,
        request_id: requestId,
        trace_id: traceparent.slice(3, 35),
        aborted: this.writableFinished ? undefined : true,
      },
      'request',
    );
  };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
