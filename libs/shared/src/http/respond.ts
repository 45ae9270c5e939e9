import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, internalError } from '../errors.ts';
import type { Logger } from '../logging.ts';
import type { Reply } from './reply.ts';

/** Writes an answer as JSON; HEAD gets the headers alone. */
export function sendReply(response: ServerResponse, reply: Reply): void {
  const text = reply.json ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body));
  if (text === undefined) {
    response.writeHead(reply.status, reply.headers);
    response.end();
    return;
  }
  const bytes = Buffer.from(text);
  response.writeHead(reply.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.length,
    ...reply.headers,
  });
  response.end(bytes);
}

/**
 * Writes whatever was thrown as the error body of the contract. A thrown value that is no AppError is a defect: it is
 * logged with its stack and answered with 500. A body that was not read to its end costs the connection.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
  log: Logger,
  logFields: object,
): void {
  const error = thrown instanceof AppError ? thrown : internalError(thrown);
  if (error.status === 500)
    log.error({ ...logFields, err: thrown, method: request.method, url: request.url }, 'a request failed');
  else if (error.status > 500) log.warn({ ...logFields, err: error.cause, method: request.method }, error.message);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (!request.complete) response.setHeader('Connection', 'close');
  sendReply(response, { status: error.status, headers: error.headers, body: error.toBody() });
}
