import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxHeaderBytes } from '@recordbus/http';
import type { CallProduct, ProductAnswer, ProductCall } from '@recordbus/pocketbase-clients';
import { translatedRequests } from '../pipeline/translated-requests.ts';
import { connectInMemory } from './memory-connection.ts';

/** The client for whom the calls are. */
interface CallingClient {
  readonly address: string | undefined;
  /** Sent with each call. */
  readonly headers: IncomingHttpHeaders;
  /** Ends the calls when the client has gone. */
  readonly signal: AbortSignal;
}

/** Makes the calls of one client; `onAnswer` gets the head of each answer. */
export type CallAs = (client: CallingClient, onAnswer: (answer: ProductAnswer) => void) => CallProduct;

/**
 * Calls the pipeline as a client would, over connections within this process. So the same steps authenticate, count,
 * log and refuse these calls, and there is no second way into a service.
 */
export function createCallAs(pipeline: RequestListener): CallAs {
  const server = createServer({ maxHeaderSize: maxHeaderBytes, requireHostHeader: false }, (incoming, response) => {
    translatedRequests.add(incoming);
    pipeline(incoming, response);
  });
  server.maxHeadersCount = 0;
  return ({ address, headers, signal }, onAnswer) =>
    async (call) => {
      const ends = connectInMemory(address);
      server.emit('connection', ends.server);
      const answer = await send(call, headers, signal, () => ends.client);
      onAnswer(answer);
      return answer;
    };
}

function send(
  { method, path, body, form, headers: own }: ProductCall,
  headers: IncomingHttpHeaders,
  signal: AbortSignal,
  createConnection: () => Duplex,
): Promise<ProductAnswer> {
  const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const contentType = form ? form.contentType : json ? 'application/json' : undefined;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method,
      path,
      signal,
      createConnection,
      headers: {
        ...headers,
        ...own,
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...(json && { 'content-length': json.length }),
      },
    });
    outgoing.once('response', (answer: IncomingMessage) => {
      const { statusCode = 500 } = answer;
      resolve({ status: statusCode, headers: answer.headers, body: answer });
    });
    outgoing.on('error', reject);
    if (form) form.parts.pipe(outgoing);
    else outgoing.end(json);
  });
}
