import type { EgressResponse } from '@recordbus/egress';
import type { ServiceAccount } from '@recordbus/settings';
import { createGate } from '@recordbus/shared/gate';
import type { AccessTokens } from './access-token.ts';
import type { TargetResult } from './notification.ts';
import { bounded, exchangeLimits, type Message, type ProviderDeps, readJson, type SendMessage } from './provider.ts';
import { withRetries } from './with-retries.ts';

export interface FcmAccount {
  readonly projectId: string;
  readonly serviceAccount: ServiceAccount;
}

/** Requests at once: the API takes one target each. */
const width = 16;

/**
 * Sends by Firebase Cloud Messaging's HTTP v1 API: a request for each target, which is a registration token
 * (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send).
 */
export function createFcm(deps: ProviderDeps, tokens: AccessTokens, account: FcmAccount): SendMessage {
  const url = `${deps.baseUrl}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;

  async function post(target: string, { title, body, data }: Message): Promise<EgressResponse> {
    const text = JSON.stringify({ message: { token: target, notification: { title, body }, ...(data && { data }) } });
    const send = async () => {
      const token = await tokens.get(account.serviceAccount);
      return deps.client.request(url, {
        ...exchangeLimits,
        headers: [
          ['Authorization', `Bearer ${token}`],
          ['Content-Type', 'application/json'],
        ],
        body: text,
      });
    };
    const response = await withRetries(deps, send);
    if (response.status !== 401) return response;
    tokens.forget(account.serviceAccount);
    return withRetries(deps, send);
  }

  async function sendOne(target: string, message: Message): Promise<TargetResult> {
    try {
      return readResult(target, await post(target, message));
    } catch (error) {
      return { target, status: 'failed', error: error instanceof Error ? bounded(error.message) : 'unknown' };
    }
  }

  return (targets, message) => {
    const gate = createGate({ width, maxWaiting: targets.length, refusal: 'too many notifications are waiting' });
    return Promise.all(targets.map((target) => gate.run(() => sendOne(target, message))));
  };
}

/** Codes of a registration that is gone, or is not of this sender. */
const goneCodes = new Set(['UNREGISTERED', 'SENDER_ID_MISMATCH']);

function readResult(target: string, response: EgressResponse): TargetResult {
  const answer = readJson(response);
  if (response.status === 200 && typeof answer?.name === 'string') return { target, status: 'sent', id: answer.name };
  const { code, message } = readError(answer?.error);
  const error = bounded(message ?? `Firebase answered ${response.status}`);
  // What is wrong with the token and what is wrong with the message differ only in the words.
  const isInvalid = goneCodes.has(code ?? '') || (code === 'INVALID_ARGUMENT' && /registration token/i.test(error));
  return { target, status: isInvalid ? 'invalid' : 'failed', error };
}

/** The code stands in a detail of its own type, beside google.rpc.Status. */
function readError(error: unknown): { code?: string; message?: string } {
  if (typeof error !== 'object' || error === null) return {};
  const { message, details } = error as { readonly message?: unknown; readonly details?: unknown };
  const codes = (Array.isArray(details) ? details : []).map(
    (detail: { errorCode?: unknown } | null) => detail?.errorCode,
  );
  const code = codes.find((found) => typeof found === 'string');
  return { ...(code !== undefined && { code }), ...(typeof message === 'string' && { message }) };
}
