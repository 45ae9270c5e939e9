import { setTimeout as delay } from 'node:timers/promises';
import type { EgressClient } from '@recordbus/egress';
import { validationFailed } from '@recordbus/errors';
import type { Settings } from '@recordbus/settings';
import { withoutTrailingSlashes } from '@recordbus/text/base-url';
import { createAccessTokens } from './access-token.ts';
import { createFcm } from './fcm.ts';
import { type Notification, type NotificationResult, type ProviderName, providerNames } from './notification.ts';
import { createOnesignal } from './onesignal.ts';
import { allOf, bounded, type SendMessage } from './provider.ts';

export interface NotifierDeps {
  readonly settings: Pick<Settings, 'get'>;
  /** A client that obeys the egress rules, because a service account names its own token endpoint. */
  readonly client: Pick<EgressClient, 'request'>;
  readonly urls: { readonly onesignalUrl: string; readonly fcmUrl: string };
  readonly wait?: (ms: number) => Promise<void>;
  /** The time in milliseconds. */
  readonly clock?: () => number;
}

export interface Notifier {
  /**
   * Sends to every target within 40 s, with retries (notifications §2.5, §2.6). Throws 422 when no provider is enabled,
   * the named one is not, or both are and none is named. The results say what a provider refused.
   */
  send(notification: Notification): Promise<NotificationResult>;
}

/** No request begins later than this after the call, since the caller waits, in milliseconds (notifications §2.6). */
const requestWindowMs = 30_000;

/** Creates the push notification sender, with the providers that the settings enable (notifications §1.2). */
export function createNotifier(given: NotifierDeps): Notifier {
  const { settings, client, urls, wait = (ms) => delay(ms), clock = Date.now } = given;
  const deps = { client, wait, clock };
  const fcm = { ...deps, baseUrl: withoutTrailingSlashes(urls.fcmUrl) };
  const onesignal = { ...deps, baseUrl: withoutTrailingSlashes(urls.onesignalUrl) };
  const tokens = createAccessTokens(fcm);

  const enabled: Readonly<Record<ProviderName, () => SendMessage | undefined>> = {
    onesignal() {
      const appId = settings.get('notifications.providers.onesignal.app_id');
      const apiKey = settings.get('notifications.providers.onesignal.api_key');
      if (!settings.get('notifications.providers.onesignal.enabled') || !appId || !apiKey) return undefined;
      return createOnesignal(onesignal, { appId, apiKey });
    },
    fcm() {
      const serviceAccount = settings.get('notifications.providers.fcm.service_account');
      if (!settings.get('notifications.providers.fcm.enabled') || !serviceAccount) return undefined;
      const projectId = settings.get('notifications.providers.fcm.project_id') || serviceAccount.project_id;
      return createFcm(fcm, tokens, { projectId, serviceAccount });
    },
  };

  function choose(wanted: ProviderName | undefined): { name: ProviderName; sendMessage: SendMessage } {
    const found = (wanted ? [wanted] : providerNames).flatMap((name) => {
      const sendMessage = enabled[name]();
      return sendMessage ? [{ name, sendMessage }] : [];
    });
    const [first, ...others] = found;
    if (!first) throw validationFailed({ provider: wanted ? `${wanted} is not enabled` : 'no provider is enabled' });
    if (others.length > 0) throw validationFailed({ provider: 'is required while more than one is enabled' });
    return first;
  }

  return {
    async send({ provider, to, ...message }) {
      const { name, sendMessage } = choose(provider);
      const targets = [...new Set([to].flat())];
      const results = await sendMessage(targets, message, clock() + requestWindowMs).catch((error: unknown) =>
        allOf(targets, { status: 'failed', error: error instanceof Error ? bounded(error.message) : 'unknown' }),
      );
      const sent = results.filter(({ status }) => status === 'sent').length;
      return { provider: name, sent, failed: results.length - sent, results };
    },
  };
}
