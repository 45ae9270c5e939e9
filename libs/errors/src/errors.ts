/** A refusal's body (http §4.1): a sentence, a stable code, and details. */
interface ErrorBody {
  error: string;
  code: string;
  details?: Record<string, unknown>;
}

interface AppErrorOptions {
  details?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that refuses a request with a status and a code. Any other error is a defect and becomes a 500. */
export class AppError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  /** This error's JSON body. */
  toBody(): ErrorBody {
    return { error: this.message, code: this.code, ...(this.details && { details: this.details }) };
  }
}

/**
 * 400: the request cannot be read (JSON, query parameter, filter, sort); details maps each parameter to its message.
 */
export const malformed = (message: string, details?: Record<string, string>) =>
  new AppError(400, 'malformed_request', message, details ? { details } : {});

/** 422: the request was read and its values are refused; details maps each field to its message (http §4.3). */
export const validationFailed = (details: Record<string, string>) =>
  new AppError(422, 'validation_failed', 'validation failed', { details });

/** 400 for one query parameter. */
export const malformedParameter = (name: string, message: string) =>
  malformed(`${name}: ${message}`, { [name]: message });

/** 401: a valid token is required. */
export const unauthenticated = (message = 'a valid token is required') =>
  new AppError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });

/** 403: the caller, a guest included, may not do this. */
export const forbidden = (message: string, code = 'forbidden') => new AppError(403, code, message);

/** A refusal of body members, which its details name. */
export const refusedMembers = ({ status, code, message, headers }: AppError, names: readonly string[]) => {
  const details = Object.fromEntries(names.map((name) => [name, 'may not be written by this caller']));
  return new AppError(status, code, message, { headers, details });
};

/** 404: `what` names the missing thing ("record", "collection"). */
export const notFound = (what: string) => new AppError(404, 'not_found', `${what} not found`);

/** 405: the route exists, the method does not; `allow` is the Allow header's value. */
export const methodNotAllowed = (allow: string, message = 'method not allowed') =>
  new AppError(405, 'method_not_allowed', message, { headers: { Allow: allow } });

/** 408: the request arrived too slowly. */
export const requestTimeout = () => new AppError(408, 'request_timeout', 'the request arrived too slowly');

/** 431: the request line and the headers are larger than node:http reads. */
export const headersTooLarge = () =>
  new AppError(431, 'headers_too_large', 'the request line and headers are too large');

/** 409: the request conflicts with the current state. */
export const conflict = (code: string, message: string, details?: Record<string, unknown>) =>
  new AppError(409, code, message, details ? { details } : {});

/** 412: If-Match or If-None-Match failed; the current ETag is a header and in the details (records §9.1). */
export const preconditionFailed = (etag: string, message = 'the record has changed') =>
  new AppError(412, 'precondition_failed', message, { details: { etag }, headers: { ETag: etag } });

/** 413: the body is larger than the limit in bytes. */
export const payloadTooLarge = (limitBytes: number, what = 'the body') =>
  new AppError(413, 'payload_too_large', `${what} may have at most ${limitBytes} bytes`);

/** 415: the route does not accept this content type. */
export const unsupportedMediaType = (expected: string) =>
  new AppError(415, 'unsupported_media_type', `the body must be ${expected}`);

/** 415: the body is compressed, which is not supported (RFC 9110 §15.5.16). */
export const unsupportedEncoding = (encoding: string) =>
  new AppError(415, 'unsupported_media_type', `the body must be sent without Content-Encoding (${encoding})`, {
    headers: { 'Accept-Encoding': 'identity' },
  });

/** 429: too many requests; the caller can try again after this many seconds. */
export const rateLimited = (retryAfterSec: number) =>
  new AppError(429, 'rate_limited', 'Too many requests. Try again later.', {
    headers: { 'Retry-After': String(retryAfterSec) },
  });

/** 503: a dependency (database, bus, upstream) does not answer; the caller can try again after a second. */
export const unavailable = (message: string, cause?: unknown) =>
  new AppError(503, 'unavailable', message, { headers: { 'Retry-After': '1' }, cause });

/** 504: an upstream took longer than its deadline. */
export const upstreamTimeout = (message: string) => new AppError(504, 'upstream_timeout', message);

/** 500: a defect. Its text is logged and never sent to the client. */
export const internalError = (cause: unknown) =>
  new AppError(500, 'internal_error', 'something went wrong on the server', { cause });

/** Whether a file could not be written because the disk, or the user's quota, is full. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/** What an error says; something else that was thrown, as text. Node reports one error for each address of a host name. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
