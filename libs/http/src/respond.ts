import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError, internalError, isDiskFull, unavailable } from '@recordbus/errors';
import { createLineBudget, type LineBudget } from '@recordbus/limits/line-budget';
import type { Logger } from '@recordbus/process/logging';
import { hasBody } from './body.ts';
import type { Reply } from './reply.ts';

/** How long the rest of a refused body is read and discarded, in milliseconds. */
const lingerMs = 2000;

/**
 * Node sends a short text in one piece with the head, and encodes it on the way: 1 µs less than bytes for an answer of
 * 600 bytes, 4 µs for 12 kB. A long text would take three times its memory.
 */
const shortTextLength = 2 ** 15;

/** Sends an answer, as JSON by default; HEAD gets only the headers. */
export function sendReply(response: ServerResponse, reply: Reply): void {
  response.end(writeHead(response, reply));
}

/** Writes an answer's head and returns its body. */
function writeHead(response: ServerResponse, reply: Reply): Buffer | string | undefined {
  const text = reply.text ?? reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body));
  if (text === undefined) {
    response.writeHead(reply.status, reply.headers);
    return undefined;
  }
  const body = typeof text === 'string' && text.length > shortTextLength ? Buffer.from(text) : text;
  response.writeHead(reply.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...reply.headers,
  });
  return body;
}

/**
 * Streams a body at the client's pace. When the body breaks off, or the client disconnects, the connection is cut: the
 * status has been sent already, so nothing else can report the failure.
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
  await pipeToEnd(stream, response);
}

/**
 * Sends the head of an answer that stays open and hands the rest over. When that fails, the connection is cut: the
 * status has been sent already.
 */
export function sendHeld(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  holdOpen: (response: ServerResponse) => void,
): void {
  response.writeHead(reply.status, reply.headers);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // Clients see that they are connected before the first message.
  response.flushHeaders();
  if (response.destroyed) return;
  try {
    holdOpen(response);
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/**
 * Pipes the rest of a stream. Resolves when the answer has ended or the client has disconnected; rejects when the
 * stream failed. Not `pipeline`: it adds seven `close` listeners to the answer, and Node warns from eleven.
 */
const pipeToEnd = (stream: Readable, response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    response.once('close', () => {
      stream.destroy();
      resolve();
    });
    stream.once('error', (error) => {
      reject(error);
      response.destroy();
    });
    stream.once('close', () => {
      if (!stream.readableEnded) response.destroy();
    });
    if (stream.destroyed) response.destroy(stream.errored ?? undefined);
    else stream.pipe(response);
  });

/**
 * Waits for a body's first part, or its end: a body that fails before that is refused like any other request. Also
 * resolves when the client has disconnected. It removes its listeners, since the answer adds many.
 */
async function untilBegun(stream: Readable, response: ServerResponse): Promise<void> {
  const begun = new AbortController();
  const { signal } = begun;
  try {
    await Promise.race([
      once(stream, 'readable', { signal }),
      once(stream, 'close', { signal }),
      once(response, 'close', { signal }),
    ]);
  } finally {
    begun.abort();
  }
}

/** Answers before the body has arrived, and closes the connection. */
function sendAheadOfBody(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  response.setHeader('Connection', 'close');
  response.write(writeHead(response, reply) ?? '');
  endAheadOfBody(request, response);
}

/**
 * Ends an answer whose head is written while the body of its request is still arriving. Closing the connection at once
 * would reset it, and a client that is still sending would never see the answer, so the rest is read for a while first.
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
 * Answers a thrown error with a refusal's body (http §4.1); an answer that has begun is cut. If the request's body is
 * not fully read, the connection is closed.
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
 * Answers 500 to a request whose callback threw what nothing caught. The connection is closed, since the error may have left
 * its parser in the middle of a request.
 */
export function failRequest(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.setHeader('Connection', 'close');
  sendRefusal(request, response, internalError(thrown));
}

/** Clients can cause any number of these while a dependency is down or busy; the access log counts them. */
const warningsPerMinute = 60;
const warnings = new WeakMap<Logger, LineBudget>();

function mayWarn(log: Logger): boolean {
  const budget =
    warnings.get(log) ??
    createLineBudget(warningsPerMinute, (count) =>
      log.warn({ count }, 'more requests failed; their lines were omitted'),
    );
  warnings.set(log, budget);
  return budget();
}

function refusalOf(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return isDiskFull(thrown) ? unavailable('the disk for files is full', thrown) : internalError(thrown);
}

/**
 * Logs a thrown error if it is the server's fault, and returns the error to answer with. An error that is not a refusal and
 * does not come from a full disk is a defect: it is logged with its stack and becomes a 500.
 */
export function logError(request: IncomingMessage, thrown: unknown, log: Logger, logFields: object): AppError {
  const error = refusalOf(thrown);
  if (error.status === 500)
    log.error({ ...logFields, err: thrown, method: request.method, url: request.url }, 'request failed');
  else if (error.status > 500 && mayWarn(log))
    log.warn({ ...logFields, err: error.cause, method: request.method }, error.message);
  return error;
}

/** Sends a refusal's body (http §4.1). */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  const reply = { status: error.status, headers: error.headers, body: error.toBody() };
  if (request.complete || !hasBody(request)) {
    sendReply(response, reply);
    return;
  }
  // A small body usually arrives with the head, and a moment later it is complete: then the connection can be kept.
  setImmediate(() => {
    if (response.headersSent) return;
    if (request.complete) sendReply(response, reply);
    else sendAheadOfBody(request, response, reply);
  });
}
