import { randomUUID } from 'node:crypto';
import type { TargetResult } from './notification.ts';
import { allOf, bounded, exchangeLimits, type ProviderDeps, readJson, type SendMessage } from './provider.ts';
import { withRetries } from './with-retries.ts';

export interface OnesignalAccount {
  readonly appId: string;
  readonly apiKey: string;
}

/**
 * Sends by OneSignal: one request for all targets, which are subscription ids
 * (https://documentation.onesignal.com/reference/push-notification). The key of the request makes OneSignal take it once,
 * however often it is sent.
 */
export function createOnesignal(deps: ProviderDeps, { appId, apiKey }: OnesignalAccount): SendMessage {
  return async (targets, { title, body, data }) => {
    const request = JSON.stringify({
      app_id: appId,
      target_channel: 'push',
      include_subscription_ids: targets,
      headings: { en: title },
      contents: { en: body },
      ...(data && { data }),
      idempotency_key: randomUUID(),
    });
    const response = await withRetries(deps, () =>
      deps.client.request(`${deps.baseUrl}/notifications?c=push`, {
        ...exchangeLimits,
        headers: [
          ['Authorization', `Key ${apiKey}`],
          ['Content-Type', 'application/json'],
        ],
        body: request,
      }),
    );
    const answer = readJson(response);
    if (response.status !== 200 || !answer)
      return allOf(targets, {
        status: 'failed',
        error: wordsOf(answer?.errors) ?? `OneSignal answered ${response.status}`,
      });
    return readResults(targets, answer);
  };
}

/** An accepted message has an id; targets that are not subscribed are named in `errors`, unless none is. */
function readResults(targets: readonly string[], answer: Readonly<Record<string, unknown>>): TargetResult[] {
  const { id, errors } = answer;
  if (typeof id !== 'string' || id === '') {
    const error = wordsOf(errors) ?? 'OneSignal made no message';
    return allOf(targets, { status: /not subscribed/i.test(error) ? 'invalid' : 'failed', error });
  }
  const invalid = new Set(invalidIn(errors));
  return targets.map((target) =>
    invalid.has(target) ? { target, status: 'invalid', error: 'not subscribed' } : { target, status: 'sent', id },
  );
}

const invalidIn = (errors: unknown): unknown[] =>
  typeof errors === 'object' && errors !== null && !Array.isArray(errors)
    ? Object.entries(errors).flatMap(([name, ids]) =>
        /^invalid_(player|subscription)_ids$/.test(name) && Array.isArray(ids) ? ids : [],
      )
    : [];

const wordsOf = (errors: unknown): string | undefined =>
  Array.isArray(errors) && errors.length > 0 ? bounded(errors.map(String).join('; ')) : undefined;
