import type { SettingKey, Settings } from '@recordbus/settings';

/** The settings that the policy is read from. */
export const corsKeys: readonly SettingKey[] = [
  'cors.origins',
  'cors.methods',
  'cors.headers',
  'cors.credentials',
  'cors.max_age',
];

/** What a page of another origin may read of an answer, beside the headers that any page may. */
const exposedHeaders = [
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
].join(', ');

type Headers = Readonly<Record<string, string>>;

/** What browsers are told about a page's origin (Fetch §3.2, interface §2.7); both give undefined for a blocked one. */
export interface CorsPolicy {
  /** The headers of an answer to a page of this origin. */
  answerHeaders(origin: string): Headers | undefined;
  /** The headers of the answer to its preflight. */
  preflightHeaders(origin: string): Headers | undefined;
}

/** Reads the policy out of the `cors.*` settings. */
export function createCorsPolicy(settings: Pick<Settings, 'get'>): CorsPolicy {
  const origins = new Set(settings.get('cors.origins'));
  const isAny = origins.has('*');
  const credentials = settings.get('cors.credentials');
  const preflight = {
    'Access-Control-Allow-Methods': settings.get('cors.methods').join(', '),
    'Access-Control-Allow-Headers': settings.get('cors.headers').join(', '),
    'Access-Control-Max-Age': String(settings.get('cors.max_age')),
  };

  function allowed(origin: string): Headers | undefined {
    if (!isAny && !origins.has(origin) && !origins.has(origin.toLowerCase())) return undefined;
    // `null` is the origin of every sandboxed frame and local file: it can't stand for anybody in particular.
    const echoes = credentials && origin !== 'null';
    return {
      'Access-Control-Allow-Origin': isAny && !echoes ? '*' : origin,
      ...(echoes && { 'Access-Control-Allow-Credentials': 'true' }),
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
