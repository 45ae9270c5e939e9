import { EgressBlockedError, type EgressClient, type EgressResponse } from '@recordbus/egress';
import { inSpan, SpanKind } from '@recordbus/shared/telemetry';
import type { Claim } from './claim.ts';
import type { Outcome } from './record-outcomes.ts';
import { cutToBytes, maxResponseBytes, responseText } from './response-text.ts';
import { nextDelayMs, readRetryAfterMs } from './retry-schedule.ts';
import { signatureHeaders } from './sign.ts';

/** How many leases of one delivery may run out in a row before it is given up (contract §5). */
const lostLeaseLimit = 3;
const gone = 410;

/** Makes one attempt of a claimed delivery and says what becomes of it. Never throws. */
export async function attemptDelivery(client: EgressClient, claim: Claim): Promise<Outcome> {
  const { event, body } = claim;
  if (claim.lost_leases >= lostLeaseLimit) return ended(claim, 'delivery interrupted');
  if (event === null || body === null) return ended(claim, 'the event is no longer kept');
  const startedMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startedMs);
  try {
    const response = await inSpan(
      `deliver ${event}`,
      {
        kind: SpanKind.CLIENT,
        traceparent: claim.traceparent ?? undefined,
        attributes: { 'webhook.id': claim.webhook_id, 'webhook.delivery.id': claim.delivery_id },
      },
      () => send(client, claim, event, body),
    );
    return answered(claim, response, durationMs());
  } catch (error) {
    if (error instanceof EgressBlockedError) return ended(claim, error.message);
    return failed(claim, { error: errorText(error), durationMs: durationMs() });
  }
}

function send(client: EgressClient, claim: Claim, event: string, body: string): Promise<EgressResponse> {
  const timestamp = Math.floor(Date.now() / 1000);
  const custom = Object.entries(claim.headers);
  const isNamed = custom.some(([name]) => name.toLowerCase() === 'user-agent');
  return client.request(claim.url, {
    headers: [
      ['Content-Type', 'application/json'],
      ...(isNamed ? [] : [['User-Agent', 'Recordbus-Webhooks/1'] as const]),
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
  });
}

function answered(claim: Claim, { status, headers, body }: EgressResponse, durationMs: number): Outcome {
  const response = { responseCode: status, responseBody: responseText(body), durationMs };
  if (status >= 200 && status < 300) return { ...recorded(claim), ...response, verdict: 'success' };
  const error = `the receiver answered ${status}`;
  if (status === gone) return { ...recorded(claim), ...response, verdict: 'dead', error };
  return failed(claim, { ...response, error }, readRetryAfterMs(headers['retry-after'], Date.now()));
}

function failed(
  claim: Claim,
  result: Partial<Outcome> & Pick<Outcome, 'error' | 'durationMs'>,
  retryAfterMs = 0,
): Outcome {
  const plan = { retryMax: claim.retry_max, backoff: claim.retry_backoff, baseDelayMs: claim.retry_delay_ms };
  const delayMs = nextDelayMs(plan, claim.attempt + 1, retryAfterMs);
  if (delayMs === undefined) return { ...recorded(claim), ...result, verdict: 'dead' };
  return { ...recorded(claim), ...result, verdict: 'retry', delayMs };
}

/** The end of a delivery without a request, so without an attempt. */
const ended = (claim: Claim, error: string): Outcome => ({
  ...recorded(claim),
  verdict: 'dead',
  attempted: false,
  error,
});

const recorded = (claim: Claim): Outcome => ({
  deliveryId: claim.delivery_id,
  webhookId: claim.webhook_id,
  occurredAt: claim.occurred_at,
  leaseToken: claim.lease_token,
  wasFailing: claim.failing,
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
