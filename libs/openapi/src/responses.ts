import type { AnswerManifest, RouteManifest } from '@recordbus/shared/http';

/** An error as every refusal has it (contract §1). */
export const errorSchema = {
  type: 'object',
  description: 'Why a request was refused.',
  properties: {
    error: { type: 'string', description: 'a sentence for people' },
    code: { type: 'string', pattern: '^[a-z][a-z0-9_]*$', description: 'stable, for programs' },
    details: { type: 'object', description: 'for a refused body: a message for each field' },
  },
  required: ['error', 'code'],
  additionalProperties: false,
  examples: [{ error: 'validation failed', code: 'validation_failed', details: { email: 'is required' } }],
};

const text = (description: string) => ({ description, schema: { type: 'string' } });
const wholeNumber = (description: string) => ({ description, schema: { type: 'string', pattern: '^\\d+$' } });

/** Headers that more than one answer has. */
export const headers = {
  RequestId: text('Of the request, in every log line and event that came of it'),
  RateLimitLimit: wholeNumber('How many such requests are taken in a period; only where a limit applies'),
  RateLimitRemaining: wholeNumber('How many more are taken before the period ends'),
  RateLimitReset: wholeNumber('Seconds until the period ends'),
  RetryAfter: wholeNumber('Seconds after which another try is worth it'),
  Replayed: text('`true`: the answer to the first request with this idempotency key'),
};

const refTo = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });

const everyAnswer = { 'X-Request-Id': refTo('RequestId') };
const counted = {
  'RateLimit-Limit': refTo('RateLimitLimit'),
  'RateLimit-Remaining': refTo('RateLimitRemaining'),
  'RateLimit-Reset': refTo('RateLimitReset'),
};

/** What a status means of its own. */
const meanings: Readonly<Record<number, string>> = {
  400: 'The request can not be read.',
  401: 'A valid token is required.',
  403: 'The token is not one that may do this.',
  404: 'It does not exist.',
  405: 'The resource is not for this method.',
  408: 'The body came too slowly.',
  409: 'Something stands against it; for an idempotency key, the first request with it is still running.',
  413: 'The body is too large.',
  415: 'The body is not of a type that is read here, or compressed.',
  422: 'The values are refused; details name each.',
  429: 'Too many requests.',
};

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

const ownHeaders = (status: number) => ({
  ...everyAnswer,
  ...(status < 300 && counted),
  ...((status === 429 || status === 503) && { 'Retry-After': refTo('RetryAfter') }),
  ...(status === 429 && counted),
  ...(status === 401 && { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } }),
  ...(status === 405 && { Allow: text('The methods that the resource is for') }),
});

/** Statuses that operations have without declaring them. */
const shared = [400, 401, 403, 404, 408, 409, 413, 415, 422, 429] as const;

/** The answers that operations refer to, by name. */
export const commonResponses = {
  ...Object.fromEntries(
    shared.map((status) => [
      `Refused${status}`,
      { description: meanings[status], headers: ownHeaders(status), content: errorContent },
    ]),
  ),
  Failed: {
    description: 'Something does not work at the moment: 500 a defect, 503 try again, 504 a service took too long.',
    headers: ownHeaders(503),
    content: errorContent,
  },
};

/** What any such route can answer with, whether it says so or not. */
function generalStatuses(route: RouteManifest, path: string): number[] {
  const isOpen = route.access === 'public';
  return [
    400,
    ...(!isOpen || route.answers[403] ? [401] : []),
    ...(route.access === 'user' || route.access === 'admin' ? [403] : []),
    ...(path.includes(':') ? [404] : []),
    ...(route.idempotent ? [409] : []),
    ...(route.body ? [408, 413, 415] : []),
    ...(route.body || route.idempotent ? [422] : []),
    429,
  ];
}

/** The answers of an operation by status. */
export function responsesOf(route: RouteManifest, path: string): Record<string, unknown> {
  const general = generalStatuses(route, path).map((status) => [
    status,
    { $ref: `#/components/responses/Refused${status}` },
  ]);
  const own = Object.entries(route.answers).map(([status, answer]) => [
    status,
    response(Number(status), answer, route),
  ]);
  return { ...Object.fromEntries([...general, ...own]), '5XX': { $ref: '#/components/responses/Failed' } };
}

function response(status: number, answer: AnswerManifest, { idempotent }: RouteManifest) {
  const { about, headers: special = {}, schema, contentType = 'application/json' } = answer;
  const isRefusal = status >= 400 && !schema;
  const replayed = idempotent && status < 300;
  return {
    description: sentence(
      about ?? (status === 201 ? 'Created' : status < 300 ? 'Done' : (meanings[status] ?? 'Refused')),
    ),
    headers: {
      ...ownHeaders(status),
      ...Object.fromEntries(Object.entries(special).map(([name, description]) => [name, text(description)])),
      ...(replayed && { 'Idempotency-Replayed': refTo('Replayed') }),
    },
    ...(isRefusal && { content: errorContent }),
    ...(schema && { content: { [contentType]: { schema } } }),
    ...(!schema && answer.contentType && { content: { [contentType]: { schema: bytes(contentType) } } }),
  };
}

const bytes = (contentType: string) => (contentType.startsWith('text/') ? { type: 'string' } : {});

const sentence = (words: string): string =>
  `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
