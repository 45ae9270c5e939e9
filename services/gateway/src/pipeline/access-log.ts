import { createLineBudget } from '@recordbus/shared/line-budget';
import type { Logger } from '@recordbus/shared/logging';
import { type GatewayExchange, type GatewayResponse, isProbe, wasOpen } from './exchange.ts';
import { pathOf } from './request-head.ts';

/** Which answers get a line. */
export interface AccessLogRules {
  /** `notable`: refusals, slow requests, and requests of admins who act as a user. */
  readonly mode: 'notable' | 'all' | 'off';
  readonly slowMs: number;
}

/**
 * The budget of refusals, and a second one of failures and slow requests: a flood of one kind hides none of the other.
 */
const linesPerMinute = 60;

/**
 * Creates the listener for a response's `close` event. It writes a line if the rules want one; `aborted` marks an
 * answer whose client disconnected before all was sent.
 */
export function accessLog(log: Logger, rules: () => AccessLogRules): (this: GatewayResponse) => void {
  // The line has a fixed set of fields and none is secret. Redaction would double its cost.
  const lines = log.child({}, { redact: [] });
  const logSkipped = (kind: string) => (count: number) =>
    log.info({ kind, count }, 'requests were omitted from the access log');
  const budgets = {
    refusals: createLineBudget(linesPerMinute, logSkipped('refusals')),
    failures: createLineBudget(linesPerMinute, logSkipped('failures and slow requests')),
  };

  function hasLine(status: number, exchange: GatewayExchange): boolean {
    const { startedAtMs, context } = exchange;
    const { principal } = context;
    const { mode, slowMs } = rules();
    if (mode !== 'notable') return mode === 'all';
    if (principal.type === 'user' && principal.impersonatedBy !== null) return true;
    if (wasOpen(exchange, status)) return false;
    if (status >= 500 || performance.now() - startedAtMs >= slowMs) return budgets.failures();
    return status >= 400 && budgets.refusals();
  }

  return function logAccess() {
    const { exchange } = this.locals;
    if (isProbe(exchange) || !hasLine(this.statusCode, exchange)) return;
    const { context, route, startedAtMs, bytesSentBefore, forwardedAtMs } = exchange;
    const { principal, requestId, traceparent, clientAddress } = context;
    const isOpen = wasOpen(exchange, this.statusCode);
    const { method, url, socket } = this.req;
    lines.info(
      {
        method,
        path: pathOf(url),
        route: route?.paths[0],
        upstream: route?.upstream.name,
        status: this.statusCode,
        duration_ms: roundMs(performance.now() - startedAtMs),
        upstream_ms:
          forwardedAtMs === undefined || isOpen
            ? undefined
            : roundMs((exchange.answeredAtMs ?? performance.now()) - forwardedAtMs),
        bytes: socket.bytesWritten - bytesSentBefore,
        rate_rule: exchange.rateRule,
        ip: clientAddress,
        principal_type: principal.type,
        principal_id: principal.type === 'guest' ? undefined : principal.id,
        auth_impersonated_by: principal.type === 'user' ? (principal.impersonatedBy ?? undefined) : undefined,
        request_id: requestId,
        trace_id: traceparent.slice(3, 35),
        aborted: this.writableFinished || isOpen ? undefined : true,
      },
      'request',
    );
  };
}

const roundMs = (ms: number): number => Math.round(ms * 100) / 100;
