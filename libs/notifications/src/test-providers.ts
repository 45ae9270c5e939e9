import { generateKeyPairSync } from 'node:crypto';
import type { EgressRequestOptions, EgressResponse } from '@recordbus/egress';
import { fixedSettings } from '@recordbus/settings/testing';
import { createNotifier } from './notifier.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export { publicKey };

const serviceAccount = JSON.stringify({
  type: 'service_account',
  project_id: 'own-project',
  private_key_id: 'key 1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: 'push@own-project.iam.gserviceaccount.com',
  token_uri: 'https://tokens.example/token',
});
export const onesignal = {
  'notifications.providers.onesignal.enabled': '1',
  'notifications.providers.onesignal.app_id': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'notifications.providers.onesignal.api_key': 'key-of-the-app',
};
export const fcm = {
  'notifications.providers.fcm.enabled': '1',
  'notifications.providers.fcm.service_account': serviceAccount,
};

/** A provider's answer: status, body and headers; an error stands for no answer. */
export type Answer = readonly [number, unknown, Record<string, string>?] | Error;

interface ProviderRequest {
  readonly url: string;
  readonly body: string;
  readonly headers: ReadonlyMap<string, string>;
}

interface Providers {
  /** The answer to the n-th request for a message; a list's last answer repeats. */
  readonly answers?: readonly Answer[] | ((request: ProviderRequest, n: number) => Answer);
  /** The answer to the n-th request for an access token. */
  readonly tokens?: (n: number) => Answer;
  /** How long each request takes, by the clock. */
  readonly requestMs?: number;
}

/** Creates a notifier with scripted providers, on a clock that only waits and requests advance. */
export function startNotifier(settings: Record<string, string>, { answers = [], tokens, requestMs = 0 }: Providers) {
  const requests: ProviderRequest[] = [];
  const assertions: string[] = [];
  const waits: number[] = [];
  let nowMs = 1_800_000_000_000;
  let running = 0;
  let peakConcurrency = 0;

  function answerTo(request: ProviderRequest): Answer | undefined {
    if (request.url.startsWith('https://tokens.')) {
      assertions.push(new URLSearchParams(request.body).get('assertion') ?? '');
      const n = assertions.length;
      return tokens?.(n) ?? [200, { access_token: `token ${n}`, expires_in: 3600 }];
    }
    requests.push(request);
    return typeof answers === 'function'
      ? answers(request, requests.length)
      : answers[Math.min(requests.length, answers.length) - 1];
  }

  const notifier = createNotifier({
    settings: fixedSettings(settings),
    urls: { onesignalUrl: 'https://onesignal.example/', fcmUrl: 'https://fcm.example' },
    clock: () => nowMs,
    async wait(ms) {
      waits.push(ms);
      nowMs += ms;
    },
    client: {
      async request(url, { body = '', headers = [] }: EgressRequestOptions): Promise<EgressResponse> {
        const answer = answerTo({ url: String(url), body: String(body), headers: new Map(headers) });
        running += 1;
        peakConcurrency = Math.max(peakConcurrency, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        nowMs += requestMs;
        if (!answer) throw new Error('the test expects no request');
        if (answer instanceof Error) throw answer;
        const [status, json, answerHeaders = {}] = answer;
        const text = typeof json === 'string' ? json : JSON.stringify(json);
        return { status, headers: answerHeaders, body: Buffer.from(text), truncated: false };
      },
    },
  });
  return {
    notifier,
    /** The requests for messages. */
    requests,
    /** The assertions in the requests for access tokens. */
    assertions,
    waits,
    peakConcurrency: () => peakConcurrency,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}
