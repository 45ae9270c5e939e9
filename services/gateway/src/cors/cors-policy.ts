import { admitsOrigin, type SettingKey, type Settings } from '@recordbus/settings';

/** The settings that define the policy. */
export const corsKeys: readonly SettingKey[] = [
  'cors.origins',
  'cors.methods',
  'cors.headers',
  'cors.credentials',
  'cors.max_age',
];

/** Request headers that `cors.headers` cannot take away (http §10.5). */
const alwaysAllowed = ['If-None-Match', 'Idempotency-Key', 'Last-Event-ID', 'X-Service-Consistency'];

/** Answer headers that pages may read, in addition to the CORS-safelisted ones (http §10.6). */
const exposedHeaders = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Service-Consistency',
].join(', ');

type Headers = Readonly<Record<string, string>>;

/** The CORS headers for an origin (Fetch §3.2, http §10). Both methods return undefined for a blocked origin. */
export interface CorsPolicy {
  /** Returns the headers for an answer to a page from this origin. */
  answerHeaders(origin: string): Headers | undefined;
  /** Returns the headers for the answer to its preflight. */
  preflightHeaders(origin: string): Headers | undefined;
}

/** Creates the policy from the `cors.*` settings. */
export function createCorsPolicy(settings: Pick<Settings, 'get'>): CorsPolicy {
  const origins = new Set(settings.get('cors.origins'));
  const isAny = origins.has('*');
  const patterns = [...origins].filter((origin) => origin.includes('*'));
  const credentials = settings.get('cors.credentials');
  const preflight = {
    'Access-Control-Allow-Methods': settings.get('cors.methods').join(', '),
    'Access-Control-Allow-Headers': allowedHeaders(settings.get('cors.headers')),
    'Access-Control-Max-Age': String(settings.get('cors.max_age')),
  };

  const isListed = (origin: string): boolean =>
    origins.has(origin) || patterns.some((pattern) => admitsOrigin(pattern, origin));

  function allowed(origin: string): Headers | undefined {
    if (!isAny && !isListed(origin.toLowerCase())) return undefined;
    // Every sandboxed frame and local file has the origin `null`, so it never gets credentials.
    const allowsCredentials = credentials && origin !== 'null';
    return {
      'Access-Control-Allow-Origin': isAny && !allowsCredentials ? '*' : origin,
      ...(allowsCredentials && { 'Access-Control-Allow-Credentials': 'true' }),
    };
  }

  return {
    answerHeaders(origin) {
      const headers = allowed(origin);
      return headers && { ...headers, 'Access-Control-Expose-Headers': exposedHeaders };
    },
    preflightHeaders(origin) {
      const headers = allowed(origin);
      return headers && { ...headers, ...preflight };
    },
  };
}

/**
 * The file host's policy (files §4.6). Its pages are other hosts' pages, and no cookie opens a file, so every origin
 * may read.
 */
export const filesPolicy: CorsPolicy = {
  answerHeaders: () => ({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposedHeaders }),
  preflightHeaders: () => ({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, HEAD',
    'Access-Control-Allow-Headers': 'Authorization, If-None-Match, If-Range, Range, X-Service-Consistency',
    'Access-Control-Max-Age': '600',
  }),
};

/** Joins the setting's headers and those that are always allowed, each once; names are compared without case. */
function allowedHeaders(configured: readonly string[]): string {
  const names = new Set(configured.map((name) => name.toLowerCase()));
  return [...configured, ...alwaysAllowed.filter((name) => !names.has(name.toLowerCase()))].join(', ');
}
