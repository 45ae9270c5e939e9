import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createEgressClient, type EgressClient, parseEgressRules } from '@recordbus/egress';

/** A host's answer: JSON with 200, another body, or a failure. */
export type HostAnswer =
  | { readonly json: unknown; readonly status?: number }
  | { readonly body: string; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  /** Never answers; closes the connection; sends without end; sends a byte at a time without end. */
  | 'hang'
  | 'reset'
  | 'flood'
  | 'drip';

export interface ReceivedRequest {
  /** The method and the URL. */
  readonly request: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server in place of the providers' hosts, and a client that calls it for them. */
export interface ProviderHosts extends AsyncDisposable {
  readonly client: EgressClient;
  readonly received: readonly ReceivedRequest[];
  /** Sets the answers by method and URL without the query; other requests get 404. */
  answer(answers: Readonly<Record<string, HostAnswer>>): void;
}

/** The limits that every call must set (oauth §1.6). */
const limits = { timeoutMs: 10_000, maxBodyBytes: 1024 * 1024 };

/** The timeout for answers that never end, so that tests need not wait 10 s. */
const shortTimeoutMs = 300;

/** Starts the server on a free port. */
export async function startProviderHosts(): Promise<ProviderHosts> {
  const received: ReceivedRequest[] = [];
  let answers: Readonly<Record<string, HostAnswer>> = {};
  const server = createServer(async (request, response) => {
    const url = `https:/${request.url}`;
    received.push({ request: `${request.method} ${url}`, headers: request.headers, body: await text(request) });
    const answer = answers[`${request.method} ${url.replace(/\?.*/, '')}`] ?? { status: 404, body: '' };
    write(response, answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createEgressClient({ rules: () => parseEgressRules({ deny: 'off', allow: '' }) });
  return {
    client: {
      ...client,
      request(url, options) {
        assert.deepEqual({ timeoutMs: options.timeoutMs, maxBodyBytes: options.maxBodyBytes }, limits);
        const { host, pathname, search } = new URL(url);
        const answer = answers[`${options.method} https://${host}${pathname}`];
        const timeoutMs = answer === 'hang' || answer === 'drip' ? shortTimeoutMs : limits.timeoutMs;
        return client.request(`http://127.0.0.1:${port}/${host}${pathname}${search}`, { ...options, timeoutMs });
      },
    },
    received,
    answer(given) {
      answers = given;
      received.length = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await client.close();
    },
  };
}

function write(response: ServerResponse, answer: HostAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'reset') response.destroy();
  else if (answer === 'flood') flood(response);
  else if (answer === 'drip') drip(response);
  else if ('json' in answer) {
    response.writeHead(answer.status ?? 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer.json));
  } else {
    response.writeHead(answer.status ?? 200, { ...answer.headers });
    response.end(answer.body);
  }
}

function flood(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const chunk = Buffer.alloc(65_536, ' ');
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}
