import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { chooseCoding } from './content-coding.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';

/** Shorter answers stay as they are: they fit in one packet. In bytes. */
const minBytes = 1024;
/**
 * The maximum number of bytes that a process compresses at once. Each answer is compressed as a whole on the threads of
 * Node, so this bounds the memory and how long other work there waits. Answers beyond it go as they are.
 */
const maxBytesAtOnce = 64 * 2 ** 20;

/** The default takes twice the time for a tenth fewer bytes. */
const gzipLevel = 3;
/** About as fast as gzip at that level, with fewer bytes. The window bounds an encoder's memory to 1 MiB. */
const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 };

const coders = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: brotliParams }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: gzipLevel }),
} as const;
const codings = Object.keys(coders) as (keyof typeof coders)[];

/** Scopes for routes whose answers have secrets. */
const secretScopes: ReadonlySet<string> = new Set([
  'none',
  'admin',
  'files',
  'settings:read',
  'settings:write',
  'users:impersonate',
  'webhooks:read',
  'webhooks:write',
]);

/**
 * Whether answers of the route may be compressed. If an answer has a secret next to text that a stranger chose, its
 * compressed length tells something about the secret (BREACH). So these are not: routes that sign in or are about an own
 * account, and those that show settings, webhooks, keys and file tokens (http §3.6).
 */
const isCompressible = ({ scope, action, otherAction }: Pick<Route, 'scope' | 'action' | 'otherAction'>): boolean =>
  !secretScopes.has(scope) && action !== 'auth' && otherAction !== 'auth';

let bytesInProgress = 0;

/**
 * Compresses a JSON answer for a client that accepts it (http §3.6). Returns a promise only if it does, so other answers
 * wait for nothing.
 */
export function compressReply(request: IncomingMessage, route: Route, reply: Reply): Reply | Promise<Reply> {
  if (!isCompressible(route) || !isPlainJson(reply)) return reply;
  if (reply.status === 304) return { ...reply, headers: varying(reply.headers) };
  const text = reply.text ?? reply.json ?? JSON.stringify(reply.body);
  const length = typeof text === 'string' ? Buffer.byteLength(text) : text.length;
  const { body: _, json: __, ...rest } = reply;
  const whole = { ...rest, text, headers: { ...jsonType, ...reply.headers } };
  if (length < minBytes) return whole;
  const headers = varying(whole.headers);
  const coding = chooseCoding(textOf(request.headers['accept-encoding']), codings);
  if (coding === undefined || bytesInProgress + length > maxBytesAtOnce) return { ...whole, headers };
  return compress({ ...whole, headers }, Buffer.from(text), coding);
}

const jsonType = { 'Content-Type': 'application/json; charset=utf-8' };

async function compress(reply: Reply, bytes: Buffer, coding: keyof typeof coders): Promise<Reply> {
  bytesInProgress += bytes.length;
  try {
    const text = await coders[coding](bytes);
    return { ...reply, text, headers: { ...weakened(reply.headers), 'Content-Encoding': coding } };
  } finally {
    bytesInProgress -= bytes.length;
  }
}

function isPlainJson({ status, headers = {}, openStream, holdOpen, body, json, text }: Reply): boolean {
  if (openStream || holdOpen || status === 206 || headers['Content-Encoding'] !== undefined) return false;
  if (/\bno-transform\b/i.test(headers['Cache-Control'] ?? '')) return false;
  if (status === 304) return true;
  const type = headers['Content-Type'];
  return (body ?? json ?? text) !== undefined && (type === undefined || /^application\/(\S+\+)?json\b/i.test(type));
}

/** The gateway's answers depend on `Origin`, and these on the coding too. */
const varying = (headers: Reply['headers'] = {}) => ({
  ...headers,
  Vary: `${headers.Vary ?? 'Origin'}, Accept-Encoding`,
});

/** A strong ETag names bytes, which the coding changes; a weak one names what they say (RFC 9110 §8.8.1). */
const weakened = (headers: Reply['headers'] = {}) =>
  headers.ETag?.startsWith('"') ? { ...headers, ETag: `W/${headers.ETag}` } : headers;

const textOf = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(',') : header);
