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

/** An answer of a provider: status, body and headers; or an error for none. */
export type Answer = readonly [number, unknown, Record<string, string>?] | Error;

interface Asked {
  readonly url: string;
  readonly body: string;
  readonly headers: ReadonlyMap<string, string>;
}

interface Providers {
  /** What the n-th request for a message is answered with; of a list the last one for ever. */
  readonly answers?: readonly Answer[] | ((asked: Asked, n: number) => Answer);
  /** What the n-th request for an access token is answered with. */
  readonly tokens?: (n: number) => Answer;
  /** How long each request takes, by the clock. */
  readonly tookMs?: number;
}

/** A notifier before providers, on a clock that only waits and requests move. */
export function beside(settings: Record<string, string>, { answers = [], tokens, tookMs = 0 }: Providers) {
  const asked: Asked[] = [];
  const assertions: string[] = [];
  const waits: number[] = [];
  let nowMs = 1_800_000_000_000;
  let underWay = 0;
  let mostUnderWay = 0;

  function answerTo(request: Asked): Answer | undefined {
    if (request.url.startsWith('https://tokens.')) {
      assertions.push(new URLSearchParams(request.body).get('assertion') ?? '');
      const n = assertions.length;
      return tokens?.(n) ?? [200, { access_token: `token ${n}`, expires_in: 3600 }];
    }
    asked.push(request);
    return typeof answers === 'function'
      ? answers(request, asked.length)
      : answers[Math.min(asked.length, answers.length) - 1];
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
        underWay += 1;
        mostUnderWay = Math.max(mostUnderWay, underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        nowMs += tookMs;
        if (!answer) throw new Error('nothing was to be asked');
        if (answer instanceof Error) throw answer;
        const [status, json, answerHeaders = {}] = answer;
        const text = typeof json === 'string' ? json : JSON.stringify(json);
        return { status, headers: answerHeaders, body: Buffer.from(text), truncated: false };
      },
    },
  });
  return {
    notifier,
    /** Requests for messages. */
    asked,
    /** Of the requests for access tokens. */
    assertions,
    waits,
    mostUnderWay: () => mostUnderWay,
    later(ms: number) {
      nowMs += ms;
    },
  };
}
