import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type JsonObject, objectAt } from '../json.ts';
import type { Part } from './multipart.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined when there is none. */
  readonly json: unknown;
}

export interface Sending {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as is. The headers must have its content type. */
  readonly rawBody?: string | Uint8Array;
  /** The form's parts in `rawBody`. */
  readonly form?: readonly Part[];
  /** A list sends a header several times. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface RecordJson extends JsonObject {
  readonly id: string;
  readonly created: number;
  readonly updated: number;
}

/** An HTTP client for a stack, with or without a token. */
export interface Client {
  send(method: string, path: string, sending?: Sending): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** Sends a POST, asserts the status and returns the answer's `data`. */
  post(path: string, body: unknown, status?: number): Promise<JsonObject>;
  patch(path: string, body: unknown, status?: number): Promise<JsonObject>;
  delete(path: string, status?: number): Promise<void>;
  /** Creates a base collection. `more` has its rules and other members. */
  define(name: string, fields: readonly object[], more?: object): Promise<JsonObject>;
  /** Creates a record and asserts that it succeeded. */
  create(collection: string, body: unknown): Promise<RecordJson>;
}

/** Loaded only for the runs that use it. */
const throughClient = process.env.TEST_THROUGH === 'client' ? await import('./through-client.ts') : undefined;

/** Opens a connection for each request, so that none is stale after a server restart. */
const agent = new Agent({ keepAlive: false });

/** Longer than the gateway waits for a service, so that a test sees the gateway's answer. */
const answerTimeoutMs = 70_000;

/** Creates a client for the server at `baseUrl`. */
export function createClient(baseUrl: string, token?: string): Client {
  const send: Client['send'] = async (method, path, sending = {}) =>
    (await throughClient?.sendThroughClient(baseUrl, token, method, path, sending)) ||
    exchange(baseUrl, token, method, path, sending);
  const demand = async (method: string, path: string, body: unknown, status: number): Promise<JsonObject> => {
    const answer = await send(method, path, { body });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    return objectAt(answer.json, 'data');
  };
  const client: Client = {
    send,
    get: (path) => send('GET', path),
    post: (path, body, status = 201) => demand('POST', path, body, status),
    patch: (path, body, status = 200) => demand('PATCH', path, body, status),
    async delete(path, status = 200) {
      const answer = await send('DELETE', path);
      assert.equal(answer.status, status, `DELETE ${path}: ${answer.text}`);
    },
    define: (name, fields, more = {}) => client.post('/api/v1/collections', { name, type: 'base', fields, ...more }),
    create: async (collection, body) => (await client.post(`/api/v1/${collection}`, body)) as RecordJson,
  };
  return client;
}

function exchange(
  baseUrl: string,
  token: string | undefined,
  method: string,
  path: string,
  { body, rawBody, headers }: Sending,
): Promise<Answer> {
  const payload = body === undefined ? rawBody : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${baseUrl}${path}`,
      {
        agent,
        method,
        headers: {
          ...(token && { Authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(payload !== undefined && { 'Content-Length': String(Buffer.byteLength(payload)) }),
          ...headers,
        },
      },
      (incoming) => {
        textOf(incoming).then(
          (received) =>
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text: received,
              json: parse(received, incoming.headers['content-type']),
            }),
          reject,
        );
      },
    );
    outgoing.setTimeout(answerTimeoutMs, () => outgoing.destroy(new Error(`${method} ${path}: no answer`)));
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

/** Returns an answer's text, or the first chunk of an event stream, which stays open. */
async function textOf(incoming: IncomingMessage): Promise<string> {
  if (!incoming.headers['content-type']?.startsWith('text/event-stream')) return text(incoming);
  for await (const first of incoming.setEncoding('utf8')) return String(first);
  return '';
}

const parse = (received: string, type = ''): unknown =>
  received !== '' && type.startsWith('application/json') ? JSON.parse(received) : undefined;
