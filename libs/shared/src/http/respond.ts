import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, internalError } from '../errors.ts';
import type { Logger } from '../logging.ts';
import { hasBody } from './body.ts';
import type { Reply } from './reply.ts';

/** How long the rest of a refused body is read and thrown away, in milliseconds. */
const lingerMs = 2000;

/** Writes an answer, as JSON unless it says otherwise; HEAD gets the headers alone. */
export function sendReply(response: ServerResponse, reply: Reply): void {
  response.end(writeHead(response, reply));
}

/** Writes the head of an answer and gives its body. */
function writeHead(response: ServerResponse, reply: Reply): Buffer | undefined {
  const text = reply.text ?? reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body));
  if (text === undefined) {
    response.writeHead(reply.status, reply.headers);
    return undefined;
  }
  const bytes = Buffer.from(text);
  response.writeHead(reply.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.length,
    ...reply.headers,
  });
  return bytes;
}

/**
 * Sends a body as it comes, at the pace of the client. When it breaks off in the middle, or the client goes away, the
 * connection is cut: it can't be told otherwise, for the head has said that all was well.
 */
export async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  openStream: () => Promise<Readable>,
): Promise<void> {
  if (request.method === 'HEAD') {
    response.writeHead(reply.status, reply.headers);
    response.end();
    return;
  }
  const stream = await openStream();
  await untilBegun(stream, response);
  if (response.headersSent || response.destroyed) {
    stream.destroy();
    return;
  }
  response.writeHead(reply.status, reply.headers);
  try {
    await pipeline(stream, response);
  } catch (error) {
    if (!response.destroyed || !isGone(error)) throw error;
  }
}

/**
 * Waits for the first part of a body, or its end: one that fails before is refused like any other request. Resolves also
 * when nobody waits for the answer any more.
 */
const untilBegun = (stream: Readable, response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.once('readable', resolve).once('close', resolve).once('error', reject);
    response.once('close', resolve);
  });

/** The client went away while it was being answered. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';

/** Answers before the body has arrived, and ends the connection. */
function sendAheadOfBody(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  response.setHeader('Connection', 'close');
  response.write(writeHead(response, reply) ?? '');
  endAheadOfBody(request, response);
}

/**
 * Ends an answer, written already, while the body of its request is still arriving. Closing the connection at once would
 * reset it, and a client that is still sending would never see the answer, so the rest is read for a while first.
 */
export function endAheadOfBody(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once('close', end);
  request.resume();
}

/**
 * Writes whatever was thrown as the error body of the contract; an answer that has begun is cut. A body that was not read
 * to its end costs the connection.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  log: Logger,
  logFields: object,
): void {
  const error = logError(request, thrown, log, logFields);
  if (response.headersSent) response.destroy();
  else sendRefusal(request, response, error);
}

/**
 * Logs whatever was thrown as far as it is the server's fault, and gives the error that it is answered with. A thrown
 * value that is no AppError is a defect: it is logged with its stack and becomes a 500.
 */
export function logError(request: IncomingMessage, thrown: unknown, log: Logger, logFields: object): AppError {
  const error = thrown instanceof AppError ? thrown : internalError(thrown);
  if (error.status === 500)
    log.error({ ...logFields, err: thrown, method: request.method, url: request.url }, 'a request failed');
  else if (error.status > 500) log.warn({ ...logFields, err: error.cause, method: request.method }, error.message);
  return error;
}

/** Writes the error body of the contract. */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  const reply = { status: error.status, headers: error.headers, body: error.toBody() };
  if (request.complete || !hasBody(request)) {
    sendReply(response, reply);
    return;
  }
  // A small body mostly came together with the head, and is there a moment later: then the connection can be kept.
  setImmediate(() => {
    if (response.headersSent) return;
    if (request.complete) sendReply(response, reply);
    else sendAheadOfBody(request, response, reply);
  });
}
