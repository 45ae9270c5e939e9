import { type Metrics, requestDuration } from '@recordbus/process/metrics';
import { guarded } from '@recordbus/request/request-scope';
import { type GatewayResponse, isProbe, type Step, wasOpen } from './exchange.ts';

/**
 * Measures each answer by its route, from the request's head to the answer's end. Connections that stayed open are only
 * counted, since their hours would hide the others' durations.
 */
export function measure(metrics: Metrics): Step {
  const duration = requestDuration(metrics);
  const ended = metrics.counter('recordbus_ended_connections_total', 'Connections that stayed open and have ended.', [
    'kind',
  ]);
  const limited = metrics.counter('recordbus_rate_limited_total', 'Requests refused by a rate rule.', ['rule']);

  function record(this: GatewayResponse): void {
    const { exchange } = this.locals;
    if (isProbe(exchange)) return;
    if (wasOpen(exchange, this.statusCode)) {
      ended.inc({ kind: this.statusCode === 101 ? 'websocket' : 'stream' });
      return;
    }
    const { route, rateRule, startedAtMs, forwardedAtMs } = exchange;
    const labels = { method: this.req.method, route: route?.paths[0] ?? 'none', status: String(this.statusCode) };
    duration.observe(labels, (performance.now() - startedAtMs) / 1000);
    const isLimited = this.statusCode === 429 && forwardedAtMs === undefined;
    if (isLimited && rateRule !== undefined) limited.inc({ rule: rateRule });
  }

  const recordGuarded = guarded(record);
  return (_request, response, next) => {
    response.once('close', recordGuarded);
    next();
  };
}
