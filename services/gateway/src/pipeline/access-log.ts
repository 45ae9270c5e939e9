import { createLineBudget } from '@recordbus/limits/line-budget';
import type { Logger } from '@recordbus/process/logging';
import { clientKey } from '@recordbus/request/client-key';
import { createRefusalMerger } from '../request-log/merge-refusals.ts';
import {
  type GatewayExchange,
  type GatewayResponse,
  isProbe,
  isRepeatable,
  maxLoggedLength,
  wasOpen,
} from './exchange.ts';
import { pathOf } from './request-head.ts';

/** Which answers get a line. */
export interface AccessLogRules {
  /** `notable`: refusals, slow requests, and requests by admins who act as a user. */
  readonly mode: 'notable' | 'all' | 'off';
  readonly slowMs: number;
}

/**
 * The budget for refusals, and a second one for failures and slow requests: a flood of one kind hides none of the
 * other.
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

  const refusals = createRefusalMerger<object>((line, count) => {
    if (rules().mode === 'all' || budgets.refusals()) lines.info({ ...line, count }, 'request');
  });

  return function logAccess() {
    const { exchange } = this.locals;
    if (isProbe(exchange)) return;
    if (rules().mode !== 'off' && isRepeatable(exchange, this.statusCode))
      refusals.add(clientKey(exchange.context.clientAddress), () => describe(this));
    else if (hasLine(this.statusCode, exchange)) lines.info(describe(this), 'request');
  };
}

/** Returns a line's fields. */
function describe(response: GatewayResponse): object {
  const { statusCode, writableFinished, req } = response;
  const { exchange } = response.locals;
  const { context, route, startedAtMs, bytesSentBefore, forwardedAtMs } = exchange;
  const { principal, requestId, traceparent, clientAddress } = context;
  const isOpen = wasOpen(exchange, statusCode);
  return {
    method: req.method,
    path: pathOf(req.url).slice(0, maxLoggedLength),
    route: route?.paths[0],
    upstream: route?.upstream.name,
    status: statusCode,
    duration_ms: roundMs(performance.now() - startedAtMs),
    upstream_ms:
      forwardedAtMs === undefined || isOpen
        ? undefined
        : roundMs((exchange.answeredAtMs ?? performance.now()) - forwardedAtMs),
    bytes: req.socket.bytesWritten - bytesSentBefore,
    rate_rule: exchange.rateRule,
    ip: clientAddress,
    principal_type: principal.type,
    principal_id: principal.type === 'guest' ? undefined : principal.id,
    auth_impersonated_by: principal.type === 'user' ? (principal.impersonatedBy ?? undefined) : undefined,
    request_id: requestId,
    trace_id: traceparent.slice(3, 35),
    aborted: writableFinished || isOpen ? undefined : true,
  };
}

const roundMs = (ms: number): number => Math.round(ms * 100) / 100;
