import { randomUUID } from 'node:crypto';
import type { TargetResult } from './notification.ts';
import {
  allOf,
  bounded,
  type Message,
  type ProviderDeps,
  readJson,
  requestLimits,
  type SendMessage,
} from './provider.ts';
import { withRetries } from './with-retries.ts';

export interface OnesignalAccount {
  readonly appId: string;
  readonly apiKey: string;
}

const subscriptionId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Sends with OneSignal, one request for all targets, which are subscription ids
 * (https://documentation.onesignal.com/reference/push-notification). The idempotency key makes OneSignal accept a
 * repeated request once (notifications §2.4).
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
        ...requestLimits,
        headers: [
          ['Authorization', `Key ${apiKey}`],
          ['Content-Type', 'application/json'],
        ],
        body: request,
      }),
    );
    const answer = readJson(response);
    if (response.status === 200 && answer) return readResults(targets, answer);
    const error = messageOf(answer?.errors) ?? `OneSignal answered ${response.status}`;
    return allOf(targets, { status: 'failed', error });
  }

  return async (targets, message, endsAtMs) => {
    // OneSignal refuses a message for all targets when one target is not an id.
    const ids = targets.filter((target) => subscriptionId.test(target));
    const results = ids.length > 0 ? await sendToAll(ids, message, endsAtMs) : [];
    const byTarget = new Map(results.map((result) => [result.target, result]));
    return targets.map(
      (target) =>
        byTarget.get(target) ?? { target, status: 'invalid', error: 'not a subscription id, which is a UUID' },
    );
  };
}

/**
 * Reads a 200's results. The answer has an id when OneSignal created a message. `errors` lists the targets that are not
 * subscribed, or has only words when none is.
 */
function readResults(targets: readonly string[], { id, errors }: Readonly<Record<string, unknown>>): TargetResult[] {
  const invalid = new Set(unsubscribedIn(errors));
  const error = messageOf(errors) ?? 'OneSignal created no message';
  return targets.map((target) => {
    if (invalid.has(target.toLowerCase())) return { target, status: 'invalid', error: 'not subscribed' };
    if (typeof id === 'string' && id !== '') return { target, status: 'sent', id };
    return { target, status: /not subscribed/i.test(error) ? 'invalid' : 'failed', error };
  });
}

const unsubscribedIn = (errors: unknown): string[] =>
  typeof errors === 'object' && errors !== null && !Array.isArray(errors)
    ? Object.entries(errors).flatMap(([name, ids]) =>
        /^invalid_(player|subscription)_ids$/.test(name) && Array.isArray(ids)
          ? ids.map((id) => String(id).toLowerCase())
          : [],
      )
    : [];

/** Joins the errors, which are sentences or objects with a sentence as `title`; undefined when there are none. */
function messageOf(errors: unknown): string | undefined {
  const messages = [errors].flat().flatMap((error: unknown) => {
    if (typeof error === 'string') return [error];
    const title = typeof error === 'object' && error !== null && 'title' in error ? error.title : undefined;
    return typeof title === 'string' ? [title] : [];
  });
  return messages.length > 0 ? bounded(messages.join('; ')) : undefined;
}
