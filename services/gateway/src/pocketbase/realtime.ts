import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Identify } from '@recordbus/moved-sessions';
import { type ClientRequest, Refusal, type Reply, readSubmission } from '@recordbus/pocketbase-clients';
import type { ClientStreams } from './client-streams.ts';
import type { OtherGateways } from './other-gateways.ts';

interface RealtimeDeps {
  readonly identifyToken: Identify;
  readonly streams: ClientStreams;
  readonly others: OtherGateways;
}

interface SubmitOptions {
  readonly request: Pick<IncomingMessage, 'socket'>;
  /** Sent with each call in the client's name. */
  readonly headers: IncomingHttpHeaders;
  /** Called before other gateways are asked: it counts the request, since they are asked for forged ids too. */
  readonly beforeOthers: () => Promise<void>;
}

/** Replaces the topics of a client's stream, which may be at another gateway. Throws 404 if no gateway has it. */
export type SubmitTopics = (request: ClientRequest, options: SubmitOptions) => Promise<Reply>;

/** Creates the function. */
export function createSubmitTopics({ identifyToken, streams, others }: RealtimeDeps): SubmitTopics {
  /** Names the account of a token, as the pipeline would; empty for a guest. */
  async function accountOf(token: string | undefined): Promise<string> {
    if (token === undefined) return '';
    if (token.startsWith('rbk_')) return `key:${createHash('sha256').update(token).digest('base64')}`;
    const principal = (await identifyToken(token))?.principal;
    return principal && principal.type !== 'guest' ? `${principal.type}:${principal.id}` : '';
  }

  return async (request, { request: { socket }, headers, beforeOthers }) => {
    const { clientId, topics } = await readSubmission(request);
    const submission = {
      clientId,
      topics,
      account: await accountOf(request.token),
      address: socket.remoteAddress,
      headers,
    };
    others.open();
    let answer = await streams.submit(submission);
    if (!answer) {
      await beforeOthers();
      answer = await others.submit(submission);
    }
    if (!answer) throw new Refusal(404, 'Missing or invalid client id.');
    if (answer.status >= 400) throw new Refusal(answer.status, answer.message);
    return { status: 204 };
  };
}
