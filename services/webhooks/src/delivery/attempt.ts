import { EgressBlockedError, type EgressClient, EgressFailedError, type EgressResponse } from '@recordbus/egress';
import { failSpan, inSpan } from '@recordbus/process/telemetry';
import type { LeasedDelivery } from './claim.ts';
import type { AttemptOutcome } from './record-outcomes.ts';
import { cutToBytes, maxResponseBytes, responseText } from './response-text.ts';
import { nextDelayMs, readRetryAfterMs } from './retry-schedule.ts';
import { signatureHeaders } from './sign.ts';

/** A delivery is given up after this many lost leases in a row (webhooks §2.6). */
const lostLeaseLimit = 3;
const gone = 410;
/** The code of a request that `mayStart` refused. */
const withdrawnCode = 'EGRESS_WITHDRAWN';

/**
 * Attempts a leased delivery once, and returns the outcome. Never throws. `mayStart` is asked right before the request; if it
 * returns false, nothing is sent, and the delivery is due again.
 */
export async function attemptDelivery(
  client: EgressClient,
  claim: LeasedDelivery,
  mayStart?: () => boolean,
): Promise<AttemptOutcome> {
  const { event, body } = claim;
  if (claim.lost_leases >= lostLeaseLimit) return endUnattempted(claim, 'delivery interrupted');
  if (event === null || body === null) return endUnkept(claim);
  const startedMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startedMs);
  try {
    const response = await inSpan(
      `deliver ${event}`,
      {
        kind: 'CLIENT',
        traceparent: claim.traceparent ?? undefined,
        attributes: () => attributesOf(claim),
      },
      async (span) => {
        const answer = await send(client, claim, event, body, mayStart);
        span?.setAttribute('http.response.status_code', answer.status);
        if (span && answer.status >= 300) failSpan(span, String(answer.status));
        return answer;
      },
    );
    return outcomeOfResponse(claim, response, durationMs());
  } catch (error) {
    if (error instanceof EgressBlockedError) return endUnattempted(claim, error.message);
    if (error instanceof EgressFailedError && error.code === withdrawnCode)
      return { ...outcomeOf(claim), verdict: 'retry', attempted: false, error: error.message };
    const begun = error instanceof EgressFailedError && error.answer ? shownResponse(error.answer) : {};
    return outcomeOfFailure(claim, { ...begun, error: errorText(error), durationMs: durationMs() });
  }
}

/**
 * A client span's attributes (OpenTelemetry, "HTTP spans"). They have only the URL's origin: a receiver's path and query
 * are often secret.
 */
function attributesOf(claim: LeasedDelivery) {
  const { origin, protocol, hostname, port } = new URL(claim.url);
  return {
    'http.request.method': 'POST',
    'url.full': `${origin}/`,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    ...(claim.attempt > 0 && { 'http.request.resend_count': claim.attempt }),
    'webhook.id': claim.webhook_id,
    'webhook.delivery.id': claim.delivery_id,
  };
}

function send(
  client: EgressClient,
  claim: LeasedDelivery,
  event: string,
  body: string,
  mayStart?: () => boolean,
): Promise<EgressResponse> {
  const timestamp = Math.floor(Date.now() / 1000);
  const custom = Object.entries(claim.headers);
  const hasUserAgent = custom.some(([name]) => name.toLowerCase() === 'user-agent');
  return client.request(claim.url, {
    headers: [
      ['Content-Type', 'application/json'],
      ...(hasUserAgent ? [] : [['User-Agent', 'Recordbus-Webhooks/1'] as const]),
      ...custom,
      ...signatureHeaders({
        deliveryId: claim.delivery_id,
        event,
        body,
        secret: claim.secret,
        previousSecret: claim.previous_secret,
        timestamp,
      }),
    ],
    body,
    timeoutMs: claim.timeout_ms,
    maxBodyBytes: maxResponseBytes,
    ...(mayStart && { mayStart }),
  });
}

function outcomeOfResponse(claim: LeasedDelivery, answer: EgressResponse, durationMs: number): AttemptOutcome {
  const { status, headers } = answer;
  const wish = String(headers['webhook-delivery'] ?? '').toLowerCase();
  const response = { ...shownResponse(answer), durationMs, asksToDisable: wish === 'disable' };
  if (status >= 200 && status < 300) return { ...outcomeOf(claim), ...response, verdict: 'success' };
  const error = `the receiver answered ${status}`;
  if (status === gone) return { ...outcomeOf(claim), ...response, verdict: 'dead', error };
  if (wish === 'abort-message')
    return { ...outcomeOf(claim), ...response, verdict: 'dead', error: `${error} and aborted the delivery` };
  return outcomeOfFailure(claim, { ...response, error }, readRetryAfterMs(headers['retry-after'], Date.now()));
}

/** What the delivery log shows about an answer. */
const shownResponse = ({ status, body }: EgressResponse) => ({
  responseCode: status,
  responseBody: responseText(body),
});

function outcomeOfFailure(
  claim: LeasedDelivery,
  result: Partial<AttemptOutcome> & Pick<AttemptOutcome, 'error' | 'durationMs'>,
  retryAfterMs = 0,
): AttemptOutcome {
  const plan = { retryMax: claim.retry_max, backoff: claim.retry_backoff, baseDelayMs: claim.retry_delay_ms };
  const delayMs = nextDelayMs(plan, claim.attempt + 1, retryAfterMs);
  if (delayMs === undefined) return { ...outcomeOf(claim), ...result, verdict: 'dead' };
  return { ...outcomeOf(claim), ...result, verdict: 'retry', delayMs };
}

/** Whether the delivery cannot be sent: its event has gone. */
export const isUnkept = ({ event, body }: LeasedDelivery): boolean => event === null || body === null;

/** Returns the outcome for such a delivery. It blocks nothing. */
export const endUnkept = (claim: LeasedDelivery): AttemptOutcome => ({
  ...endUnattempted(claim, 'the event is no longer kept'),
  lane: claim.lane && { ...claim.lane, blocks: false },
});

/** Returns the outcome for a delivery that ends without a request, which is not an attempt. */
const endUnattempted = (claim: LeasedDelivery, error: string): AttemptOutcome => ({
  ...outcomeOf(claim),
  verdict: 'dead',
  attempted: false,
  error,
});

const outcomeOf = (claim: LeasedDelivery): AttemptOutcome => ({
  deliveryId: claim.delivery_id,
  webhookId: claim.webhook_id,
  occurredAt: claim.occurred_at,
  leaseToken: claim.lease_token,
  lane: claim.lane,
  // An earlier attempt's failure may have been recorded after the claim.
  wasFailing: claim.failing || claim.attempt > 0,
  asksToDisable: false,
  verdict: 'success',
  delayMs: 0,
  attempted: true,
  durationMs: 0,
  responseCode: null,
  responseBody: null,
  error: null,
});

const errorText = (error: unknown) =>
  cutToBytes((error instanceof Error ? error.message : String(error)).replaceAll('\0', '\ufffd').toWellFormed(), 500);
