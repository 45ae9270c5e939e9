import type { EgressResponse } from '@recordbus/egress';
import { createGate } from '@recordbus/limits/gate';
import type { ServiceAccount } from '@recordbus/settings';
import type { AccessTokens } from './access-token.ts';
import { type FcmError, readFcmError } from './fcm-error.ts';
import type { TargetResult } from './notification.ts';
import { bounded, type Message, type ProviderDeps, readJson, requestLimits, type SendMessage } from './provider.ts';
import { withRetries } from './with-retries.ts';

export interface FcmAccount {
  readonly projectId: string;
  readonly serviceAccount: ServiceAccount;
}

/** How many requests run at once; each has one target (notifications §2.4). */
const width = 32;

/**
 * Sends with Firebase Cloud Messaging's HTTP v1 API, one request for each target, which is a registration token
 * (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send).
 */
export function createFcm(deps: ProviderDeps, tokens: AccessTokens, account: FcmAccount): SendMessage {
  const { projectId, serviceAccount } = account;
  const url = `${deps.baseUrl}/v1/projects/${encodeURIComponent(projectId)}/messages:send`;

  const post = (token: string, target: string, { title, body, data }: Message, endsAtMs: number) =>
    withRetries(deps, endsAtMs, () =>
      deps.client.request(url, {
        ...requestLimits,
        headers: [
          ['Authorization', `Bearer ${token}`],
          ['Content-Type', 'application/json'],
        ],
        body: JSON.stringify({ message: { token: target, notification: { title, body }, ...(data && { data }) } }),
      }),
    );

  return async (targets, message, endsAtMs) => {
    // Before the requests: without a token no target is tried.
    let token = await tokens.get(serviceAccount, endsAtMs);
    let replacement: Promise<string> | undefined;
    const replaceToken = (): Promise<string> => {
      tokens.drop(serviceAccount, token);
      return tokens.get(serviceAccount, endsAtMs);
    };

    async function postToOne(target: string): Promise<EgressResponse> {
      const used = token;
      const response = await post(used, target, message, endsAtMs);
      const refusesToken = response.status === 401 && readFcmError(response).code === undefined;
      // The token is replaced once. When the replacement is refused too, the token is not the problem.
      if (!refusesToken || (replacement && used === (await replacement))) return response;
      replacement ??= replaceToken();
      token = await replacement;
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
 * Whether the target is permanently invalid. Another sender's target (SENDER_ID_MISMATCH) is not invalid: with the
 * wrong project's service account, every target would be.
 */
function isInvalidTarget({ code, status, message, fields }: FcmError): boolean {
  if (code === 'UNREGISTERED') return true;
  // An invalid target and an invalid message have the same status; they differ in the field, or only in the text.
  return (
    status === 'INVALID_ARGUMENT' && (fields.includes('message.token') || /registration token/i.test(message ?? ''))
  );
}
