import type { EgressResponse } from '@recordbus/egress';
import type { ServiceAccount } from '@recordbus/settings';
import { createGate } from '@recordbus/shared/gate';
import type { AccessTokens } from './access-token.ts';
import { type FcmError, readFcmError } from './fcm-error.ts';
import type { TargetResult } from './notification.ts';
import { bounded, exchangeLimits, type Message, type ProviderDeps, readJson, type SendMessage } from './provider.ts';
import { withRetries } from './with-retries.ts';

export interface FcmAccount {
  readonly projectId: string;
  readonly serviceAccount: ServiceAccount;
}

/** Requests at once: the API takes one target each. */
const width = 32;

/**
 * Sends by Firebase Cloud Messaging's HTTP v1 API: a request for each target, which is a registration token
 * (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send).
 */
export function createFcm(deps: ProviderDeps, tokens: AccessTokens, account: FcmAccount): SendMessage {
  const { projectId, serviceAccount } = account;
  const url = `${deps.baseUrl}/v1/projects/${encodeURIComponent(projectId)}/messages:send`;

  const post = (token: string, target: string, { title, body, data }: Message, endsAtMs: number) =>
    withRetries(deps, endsAtMs, () =>
      deps.client.request(url, {
        ...exchangeLimits,
        headers: [
          ['Authorization', `Bearer ${token}`],
          ['Content-Type', 'application/json'],
        ],
        body: JSON.stringify({ message: { token: target, notification: { title, body }, ...(data && { data }) } }),
      }),
    );

  return async (targets, message, endsAtMs) => {
    // Asked for before there are many to ask: without one no target needs to be tried.
    let token = await tokens.get(serviceAccount, endsAtMs);
    let another: Promise<string> | undefined;
    const getAnother = (): Promise<string> => {
      tokens.forget(serviceAccount, token);
      return tokens.get(serviceAccount, endsAtMs);
    };

    async function postToOne(target: string): Promise<EgressResponse> {
      const used = token;
      const response = await post(used, target, message, endsAtMs);
      const refusesToken = response.status === 401 && readFcmError(response).code === undefined;
      // Another one is asked for once; if that is refused too, it is not the token that is wrong.
      if (!refusesToken || (another && used === (await another))) return response;
      another ??= getAnother();
      token = await another;
      return post(token, target, message, endsAtMs);
    }

    async function sendToOne(target: string): Promise<TargetResult> {
      try {
        return readResult(target, await postToOne(target));
      } catch (error) {
        return { target, status: 'failed', error: error instanceof Error ? bounded(error.message) : 'unknown' };
      }
    }

    const gate = createGate({ width, maxWaiting: targets.length, refusal: 'too many notifications are waiting' });
    return Promise.all(targets.map((target) => gate.run(() => sendToOne(target))));
  };
}

function readResult(target: string, response: EgressResponse): TargetResult {
  const answer = readJson(response);
  if (response.status === 200 && typeof answer?.name === 'string') return { target, status: 'sent', id: answer.name };
  const fcmError = readFcmError(response);
  const error = bounded(fcmError.message ?? `Firebase answered ${response.status}`);
  return { target, status: isInvalidTarget(fcmError) ? 'invalid' : 'failed', error };
}

/**
 * Is it the target that is wrong, and for ever? A target of another sender (SENDER_ID_MISMATCH) is not: when the service
 * account is that of another project, every one is.
 */
function isInvalidTarget({ code, status, message, fields }: FcmError): boolean {
  if (code === 'UNREGISTERED') return true;
  // What is wrong with the target and what with the message differ in the field, or only in the words.
  return (
    status === 'INVALID_ARGUMENT' && (fields.includes('message.token') || /registration token/i.test(message ?? ''))
  );
}
