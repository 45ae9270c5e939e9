import { maskKeys } from '@recordbus/process/mask-keys';
import { clientKey } from '@recordbus/request/client-key';
import { guarded } from '@recordbus/request/request-scope';
import type { RequestLog } from '../request-log/request-log.ts';
import type { LoggedRequest } from '../request-log/request-row.ts';
import {
  type GatewayExchange,
  type GatewayResponse,
  isProbe,
  isRepeatable,
  maxLoggedLength,
  type Step,
} from './exchange.ts';
import { pathOf } from './request-head.ts';

const pageFile = '/_/assets/:file';

/** Whether an admin pages file was sent. A screen reads several, which would hide clients' requests. */
const isPageFile = ({ route }: GatewayExchange, status: number): boolean =>
  status < 400 && route?.paths[0] === pageFile;

/** Adds each request to the request log when its answer has ended or its client has disconnected. */
export function noteRequest({ note, noteRefusal }: Pick<RequestLog, 'note' | 'noteRefusal'>): Step {
  function record(this: GatewayResponse): void {
    const { exchange } = this.locals;
    if (isProbe(exchange) || isPageFile(exchange, this.statusCode)) return;
    if (isRepeatable(exchange, this.statusCode))
      noteRefusal(clientKey(exchange.context.clientAddress), () => describe(this));
    else note(describe(this));
  }

  const recordGuarded = guarded(record);
  return (_request, response, next) => {
    response.once('close', recordGuarded);
    next();
  };
}

function describe({ req: { method, url, headers }, statusCode, locals: { exchange } }: GatewayResponse): LoggedRequest {
  const { context, startedAtMs } = exchange;
  const { principal, requestId, traceparent, clientAddress } = context;
  const durationMs = performance.now() - startedAtMs;
  return {
    // Whole milliseconds, as the clock has: a fraction more would put a second's first request into the second before.
    at: Math.floor((Date.now() - Math.floor(durationMs)) / 1000),
    method,
    path: maskKeys(pathOf(url)).slice(0, maxLoggedLength),
    status: statusCode,
    duration_ms: Math.round(durationMs * 100) / 100,
    ip: clientAddress,
    user_agent: maskKeys(headers['user-agent'] ?? '').slice(0, maxLoggedLength) || null,
    principal_type: principal.type,
    principal_id: principal.type === 'guest' ? null : principal.id,
    auth_impersonated_by: principal.type === 'user' ? principal.impersonatedBy : null,
    request_id: requestId,
    trace_id: traceparent.slice(3, 35),
  };
}
