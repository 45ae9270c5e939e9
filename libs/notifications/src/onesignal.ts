import { randomUUID } from 'node:crypto';
import type { TargetResult } from './notification.ts';
import {
  allOf,
  bounded,
  exchangeLimits,
  type Message,
  type ProviderDeps,
  readJson,
  type SendMessage,
} from './provider.ts';
import { withRetries } from './with-retries.ts';

export interface OnesignalAccount {
  readonly appId: string;
  readonly apiKey: string;
}

const subscriptionId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Sends by OneSignal: one request for all targets, which are subscription ids
 * (https://documentation.onesignal.com/reference/push-notification). The key of the request makes OneSignal take it once,
 * however often it is sent.
 */
export function createOnesignal(deps: ProviderDeps, { appId, apiKey }: OnesignalAccount): SendMessage {
  async function sendToAll(targets: readonly string[], { title, body, data }: Message, endsAtMs: number) {
    const request = JSON.stringify({
      app_id: appId,
      target_channel: 'push',
      include_subscription_ids: targets,
      headings: { en: title },
      contents: { en: body },
      ...(data && { data }),
      idempotency_key: randomUUID(),
    });
    const response = await withRetries(deps, endsAtMs, () =>
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
    if (response.status === 200 && answer) return readResults(targets, answer);
    const error = wordsOf(answer?.errors) ?? `OneSignal answered ${response.status}`;
    return allOf(targets, { status: 'failed', error });
  }

  return async (targets, message, endsAtMs) => {
    // One that is no id would have OneSignal refuse the message to all.
    const ids = targets.filter((target) => subscriptionId.test(target));
    const results = ids.length > 0 ? await sendToAll(ids, message, endsAtMs) : [];
    const ofTarget = new Map(results.map((result) => [result.target, result]));
    return targets.map(
      (target) =>
        ofTarget.get(target) ?? { target, status: 'invalid', error: 'not a subscription id, which is a UUID' },
    );
  };
}

/**
 * Of a message that was made, which has an id, and of one that was not since none of its targets is subscribed; `errors`
 * has the targets that are not, or only words when none is.
 */
function readResults(targets: readonly string[], { id, errors }: Readonly<Record<string, unknown>>): TargetResult[] {
  const invalid = new Set(invalidIn(errors));
  const error = wordsOf(errors) ?? 'OneSignal made no message';
  return targets.map((target) => {
    if (invalid.has(target.toLowerCase())) return { target, status: 'invalid', error: 'not subscribed' };
    if (typeof id === 'string' && id !== '') return { target, status: 'sent', id };
    return { target, status: /not subscribed/i.test(error) ? 'invalid' : 'failed', error };
  });
}

const invalidIn = (errors: unknown): string[] =>
  typeof errors === 'object' && errors !== null && !Array.isArray(errors)
    ? Object.entries(errors).flatMap(([name, ids]) =>
        /^invalid_(player|subscription)_ids$/.test(name) && Array.isArray(ids)
          ? ids.map((id) => String(id).toLowerCase())
          : [],
      )
    : [];

/** Errors are sentences, or objects that have one as `title`. */
function wordsOf(errors: unknown): string | undefined {
  const words = [errors].flat().flatMap((error: unknown) => {
    if (typeof error === 'string') return [error];
    const title = typeof error === 'object' && error !== null && 'title' in error ? error.title : undefined;
    return typeof title === 'string' ? [title] : [];
  });
  return words.length > 0 ? bounded(words.join('; ')) : undefined;
}
