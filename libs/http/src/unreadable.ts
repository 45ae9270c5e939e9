import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type AppError, headersTooLarge, malformed, requestTimeout } from '@recordbus/errors';
import { securityHeaders } from './security-headers.ts';

/**
 * Answers bytes that node:http could not parse as a request: 431 for oversized headers, 408 for headers that arrived
 * too slowly, 400 for anything else, including CONNECT, with the body of a refusal. Then it closes the connection.
 * `last` is the answer to the connection's last request: a complete request is answered first; if the body of the last
 * request is unreadable and its answer has begun, the connection is only closed.
 */
export function refuseUnreadable(
  thrown: NodeJS.ErrnoException,
  socket: Duplex,
  last: ServerResponse | undefined,
): void {
  const isUnderWay = last && !last.writableFinished && !last.destroyed;
  if (isUnderWay && last.req.complete && socket.writable && thrown.code !== 'ECONNRESET') {
    last.once('close', () => refuseUnreadable(thrown, socket, undefined));
    return;
  }
  if (thrown.code === 'ECONNRESET' || !socket.writable || (isUnderWay && last.headersSent)) {
    socket.destroy();
    return;
  }
  const error = toAppError(thrown.code);
  const body = JSON.stringify(error.toBody());
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    ...securityHeaders,
    Vary: 'Origin',
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
}

function toAppError(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout();
  return malformed('the request is not valid HTTP');
}
