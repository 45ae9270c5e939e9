import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  malformed,
  malformedParameter,
  payloadTooLarge,
  requestTimeout,
  unsupportedEncoding,
  unsupportedMediaType,
  validationFailed,
} from '@recordbus/errors';
import { collectBytes } from './collect-bytes.ts';
import { findHalfCharacter } from './half-characters.ts';
import { findJsonExcess, largeBodyBytes } from './json-shape.ts';
import type { Route } from './route.ts';

/** Returns the body's declared length in bytes; 0 when the request declares none. */
export const declaredBodyBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0);

/** Whether the request has a body (RFC 9112 §6.3). */
export const hasBody = (request: IncomingMessage): boolean =>
  declaredBodyBytes(request) > 0 || request.headers['transfer-encoding'] !== undefined;

/** Whether the body is a form with files (RFC 7578). */
export const isMultipart = ({ headers }: IncomingMessage): boolean =>
  /^\s*multipart\/form-data\s*(;|$)/i.test(headers['content-type'] ?? '');

/** Throws 415 for a compressed body. */
export function requirePlainBody({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') throw unsupportedEncoding(encoding.slice(0, 50));
}

/** The body limits that a route declares. */
export interface BodyLimits {
  readonly bodyLimitBytes: number;
  readonly multipartLimitBytes?: number | undefined;
}

/** Returns the largest body in bytes that a request may have, by its content type. */
export const bodyLimitOf = (request: IncomingMessage, { bodyLimitBytes, multipartLimitBytes }: BodyLimits): number =>
  multipartLimitBytes !== undefined && isMultipart(request) ? multipartLimitBytes : bodyLimitBytes;

/** A JSON body has to arrive within this time, in milliseconds, so that a slow client holds nothing for longer. */
const bodyTimeoutMs = 300_000;

/**
 * Reads a JSON body of at most `limitBytes`; undefined when the request has none. Throws 413, 415 for another content
 * type, 400 for text that is not JSON or not UTF-8, nests too deep or has too many members, and 422 (or the status of the
 * route) for half a surrogate pair.
 */
export async function readJsonBody(
  request: IncomingMessage,
  {
    bodyLimitBytes: limitBytes,
    parseBody,
    refusesBodyWith,
  }: Pick<Route, 'bodyLimitBytes' | 'parseBody' | 'refusesBodyWith'>,
): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  const type = request.headers['content-type'] ?? '';
  if (!isJsonInUtf8(type)) throw unsupportedMediaType('application/json');
  if (declaredBodyBytes(request) > limitBytes) throw payloadTooLarge(limitBytes);
  const bytes = await readBytes(request, limitBytes);
  if (bytes.length === 0) return undefined;
  if (parseBody) return parseBody(bytes);
  const parsed = await parseSoon(bytes);
  const place = findHalfCharacter(bytes, parsed);
  if (place === undefined) return parsed;
  const message = 'must not contain half a surrogate pair';
  throw refusesBodyWith === 400 ? malformedParameter(place, message) : validationFailed({ [place]: message });
}

async function parseSoon(bytes: Uint8Array): Promise<unknown> {
  const excess = findJsonExcess(bytes);
  if (excess) throw malformed(`the body ${excess}`);
  if (bytes.length <= largeBodyBytes) return parseJson(bytes);
  // Other requests get their turn between the scan, the parser and the schema (cost §4.1).
  await nextTurn();
  const parsed = parseJson(bytes);
  await nextTurn();
  return parsed;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw malformed('the body is not valid JSON');
  }
}

/** Whether the type is JSON in UTF-8 (RFC 8259 §8.1); another charset would be misread. */
function isJsonInUtf8(type: string): boolean {
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type)) return false;
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type) ?? [];
  return /^(utf-?8|us-ascii)$/i.test(charset);
}

async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const collected = collectBytes();
  let length = 0;
  const deadlineMs = performance.now() + bodyTimeoutMs;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > limitBytes) throw payloadTooLarge(limitBytes);
      if (performance.now() > deadlineMs) throw requestTimeout();
      collected.add(chunk);
    }
  } catch (error) {
    if (request.errored) throw malformed('the body ended before it was whole');
    throw error;
  }
  return collected.take();
}
