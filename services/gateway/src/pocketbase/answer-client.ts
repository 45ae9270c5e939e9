import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline as pipe } from 'node:stream/promises';
import { AppError } from '@recordbus/errors';
import { endAheadOfBody } from '@recordbus/http';
import {
  type AccountSettings,
  type CallProduct,
  type Catalog,
  type ClientRequest,
  failed,
  Refusal,
  type Reply,
  servePocketBase,
} from '@recordbus/pocketbase-clients';
import type { Logger } from '@recordbus/process/logging';
import type { CallAs } from './call-pipeline.ts';
import type { ClientStreams } from './client-streams.ts';
import type { ClientPath } from './find-client-path.ts';
import type { SubmitTopics } from './realtime.ts';
import type { ReturnFromProvider } from './return-from-provider.ts';

interface AnswerDeps {
  readonly log: Logger;
  readonly callAs: CallAs;
  readonly streams: Pick<ClientStreams, 'open'>;
  readonly submitTopics: SubmitTopics;
  readonly returnFromProvider: ReturnFromProvider;
  readonly findCatalog: () => Promise<Catalog>;
  readonly accounts: AccountSettings;
  /** The client's address, behind trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly withClaims: (token: string, collectionId: string) => Promise<string>;
}

/** Answers a request of a PocketBase client. Never rejects. */
export type AnswerClient = (request: IncomingMessage, response: ServerResponse, path: ClientPath) => Promise<void>;

/** Creates the function. */
export function createAnswerClient(deps: AnswerDeps): AnswerClient {
  const { log, callAs, streams, submitTopics, returnFromProvider, findCatalog, accounts, withClaims, addressOf } = deps;
  return async (request, response, path) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    let lastHead: IncomingHttpHeaders | undefined;
    const headers = headersOf(request.headers);
    const client = { address: request.socket.remoteAddress, headers, signal: gone.signal };
    const call = callAs(client, ({ headers }) => {
      lastHead = headers;
    });
    try {
      const asked = toClientRequest(request, path, addressOf(request));
      const [only] = path.segments.length === 1 ? path.segments : [];
      const beforeOthers = () => knock(call, path);
      if (only === 'realtime' && request.method === 'GET') {
        await greet(call);
        setHead(response, lastHead);
        streams.open(request, response);
        return;
      }
      const reply = await replyTo(async () => {
        if (only === 'realtime' && request.method === 'POST')
          return submitTopics(asked, { request, headers, beforeOthers });
        if (only === 'oauth2-redirect') return returnFromProvider(asked, beforeOthers);
        return servePocketBase({ request: asked, call, catalog: await findCatalog(), accounts, withClaims });
      });
      // A refusal passes the pipeline too, so that its steps count it.
      if (!lastHead) await (reply.status < 400 ? greet(call) : knock(call, path));
      await sendReply(request, response, reply, lastHead);
    } catch (error) {
      if (gone.signal.aborted || response.headersSent) {
        response.destroy();
        return;
      }
      const refusal = refusalOf(error);
      if (!refusal) log.error({ err: error }, 'a request of a PocketBase client failed');
      await sendReply(request, response, { status: refusal?.status ?? 500, body: refusal?.body ?? failure }, lastHead);
    }
  };
}

const failure = new Refusal(500, failed).body;

/** The refusal to answer; undefined for a defect. */
function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  return error instanceof AppError ? new Refusal(error.status === 422 ? 400 : error.status, failed) : undefined;
}

async function replyTo(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: error.body };
    throw error;
  }
}

/** Sends the request's own path through the pipeline, which knows no such route. Throws 429 over a rate limit. */
async function knock(call: CallProduct, { segments }: ClientPath): Promise<void> {
  const path = `/pb/api/${segments.map(encodeURIComponent).join('/')}`;
  const { status, body } = await call({ method: 'GET', path });
  body.resume();
  if (status === 429) throw new Refusal(429, 'Too Many Requests.');
}

/** Gets the headers that the pipeline's steps set, for an answer without another call. */
async function greet(call: CallProduct): Promise<void> {
  const { body } = await call({ method: 'GET', path: '/healthz' });
  body.resume();
}

/** Headers that common proxies add. */
const proxyHeaders = ['CF-Connecting-IP', 'Fly-Client-IP', 'X-Forwarded-For'];

function toClientRequest(
  request: IncomingMessage,
  { segments, query, prefix }: ClientPath,
  address: string,
): ClientRequest {
  const { method = 'GET', headers } = request;
  const isHead = method === 'HEAD' && segments[0] !== 'files';
  return {
    method: isHead ? 'GET' : method,
    path: segments,
    query,
    contentType: headers['content-type'] ?? '',
    body: request,
    token: tokenOf(headers.authorization),
    client: { address, proxyHeader: proxyHeaders.find((name) => headers[name.toLowerCase()]) ?? '' },
    baseUrl: `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${headers.host ?? 'localhost'}${prefix}`,
  };
}

/** PocketBase takes a token with and without `Bearer`. */
const tokenOf = (authorization: string | undefined): string | undefined =>
  authorization?.replace(/^bearer +/i, '').trim() || undefined;

/** About the client's connection or body, and not about a call. */
const notForwarded: ReadonlySet<string> = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'idempotency-key',
  'if-match',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function headersOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const token = tokenOf(headers.authorization);
  const kept = Object.entries(headers).filter(([name]) => !notForwarded.has(name));
  return {
    ...Object.fromEntries(kept),
    'x-request-id': headers['x-request-id'] ?? randomUUID(),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

/** The pipeline's headers that are for the client too. */
const taken =
  /^(access-control-|ratelimit-|x-(request-id|content-type-options|frame-options|service-consistency)$|vary$|referrer-policy$|retry-after$)/;

function setHead(response: ServerResponse, head: IncomingHttpHeaders = {}): void {
  for (const [name, value] of Object.entries(head))
    if (taken.test(name) && value !== undefined) response.setHeader(name, value);
}

async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  head: IncomingHttpHeaders | undefined,
): Promise<void> {
  setHead(response, head);
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if ('stream' in reply) {
    response.writeHead(reply.status);
    if (request.method === 'HEAD') {
      reply.stream.resume();
      response.end();
    } else await pipe(reply.stream, response);
    return;
  }
  const body = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body));
  if (body && !response.hasHeader('content-type')) response.setHeader('Content-Type', 'application/json');
  if (body) response.setHeader('Content-Length', body.length);
  const isRead = request.complete || request.readableEnded;
  if (!isRead) response.setHeader('Connection', 'close');
  response.writeHead(reply.status);
  if (body && request.method !== 'HEAD') response.write(body);
  if (isRead) response.end();
  else endAheadOfBody(request, response);
}
