import { setTimeout as delay } from 'node:timers/promises';
import type { EgressClient } from '@recordbus/egress';
import type { Settings } from '@recordbus/settings';
import { validationFailed } from '@recordbus/shared/errors';
import { createAccessTokens } from './access-token.ts';
import { createFcm } from './fcm.ts';
import { type Notification, type NotificationResult, type ProviderName, providerNames } from './notification.ts';
import { createOnesignal } from './onesignal.ts';
import { allOf, bounded, type SendMessage } from './provider.ts';

export interface NotifierDeps {
  readonly settings: Pick<Settings, 'get'>;
  /** Obeys the egress rules, since a service account names its own token endpoint. */
  readonly client: Pick<EgressClient, 'request'>;
  readonly urls: { readonly onesignalUrl: string; readonly fcmUrl: string };
  readonly wait?: (ms: number) => Promise<void>;
  /** The time in milliseconds. */
  readonly clock?: () => number;
}

export interface Notifier {
  /**
   * Sends to every target, and again where the provider is busy; it is over within 40 s. Throws 422 when no provider is
   * enabled, the one asked for is not, or both are and none is named; what a provider refuses stands in the results.
   */
  send(notification: Notification): Promise<NotificationResult>;
}

/** Whoever sends is waiting for the answer: so long after the call no request is begun. */
const patienceMs = 30_000;

/** Sends push notifications by the providers that the settings enable (interface §2.7). */
export function createNotifier(given: NotifierDeps): Notifier {
  const { settings, client, urls, wait = (ms) => delay(ms), clock = Date.now } = given;
  const deps = { client, wait, clock };
  const fcm = { ...deps, baseUrl: withoutSlash(urls.fcmUrl) };
  const onesignal = { ...deps, baseUrl: withoutSlash(urls.onesignalUrl) };
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

  function choose(asked: ProviderName | undefined): { name: ProviderName; sendMessage: SendMessage } {
    const found = (asked ? [asked] : providerNames).flatMap((name) => {
      const sendMessage = enabled[name]();
      return sendMessage ? [{ name, sendMessage }] : [];
    });
    const [first, ...others] = found;
    if (!first) throw validationFailed({ provider: asked ? `${asked} is not enabled` : 'no provider is enabled' });
    if (others.length > 0) throw validationFailed({ provider: 'is required while more than one is enabled' });
    return first;
  }

  return {
    async send({ provider, to, ...message }) {
      const { name, sendMessage } = choose(provider);
      const targets = [...new Set([to].flat())];
      const results = await sendMessage(targets, message, clock() + patienceMs).catch((error: unknown) =>
        allOf(targets, { status: 'failed', error: error instanceof Error ? bounded(error.message) : 'unknown' }),
      );
      const sent = results.filter(({ status }) => status === 'sent').length;
      return { provider: name, sent, failed: results.length - sent, results };
    },
  };
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
