import type { AnswerManifest, RouteManifest } from '@recordbus/http';
import { componentName } from './names.ts';
import { refusalExample } from './refusal-examples.ts';
import { type Components, named } from './schemas/components.ts';

/** Every refusal's body (http §4.1). */
export const errorSchema = {
  type: 'object',
  description: 'Why a request was refused.',
  properties: {
    error: { type: 'string', description: 'a sentence for people' },
    code: { type: 'string', pattern: '^[a-z][a-z0-9_]*$', description: 'stable, for programs' },
    details: {
      type: 'object',
      additionalProperties: true,
      description: 'a message for each refused body field and query parameter',
    },
  },
  required: ['error', 'code'],
  additionalProperties: false,
  examples: [{ error: 'validation failed', code: 'validation_failed', details: { email: 'is required' } }],
};

const text = (description: string) => ({ description, schema: { type: 'string' } });
const wholeNumber = (description: string) => ({ description, schema: { type: 'string', pattern: '^\\d+$' } });

/** Headers that more than one answer has. */
export const headers = {
  RequestId: text("The request's id, which its log lines and events carry"),
  RateLimitLimit: wholeNumber('How many requests a window allows; only where a limit applies'),
  RateLimitRemaining: wholeNumber('How many requests are left in the window'),
  RateLimitReset: wholeNumber('Seconds until the window ends'),
  RetryAfter: wholeNumber('Seconds to wait before the next attempt'),
  Replayed: text('`true`: the answer to the first request with this idempotency key'),
};

const refTo = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });

const everyAnswer = { 'X-Request-Id': refTo('RequestId') };
const counted = {
  'RateLimit-Limit': refTo('RateLimitLimit'),
  'RateLimit-Remaining': refTo('RateLimitRemaining'),
  'RateLimit-Reset': refTo('RateLimitReset'),
};

/** A status's general meaning. */
const meanings: Readonly<Record<number, string>> = {
  400: 'The request cannot be read.',
  401: 'A valid token is required.',
  403: 'The token does not permit this.',
  404: 'It does not exist.',
  405: 'The resource does not support this method.',
  408: 'The body arrived too slowly.',
  409: 'The request conflicts with the current state, or the first request with the idempotency key is still running.',
  413: 'The body is too large.',
  415: 'The body has an unsupported type, or is compressed.',
  422: 'Values are refused; details name each.',
  429: 'Too many requests.',
  431: 'The request line and the headers are too large.',
};

/** A refusal's body, with an example for its status. */
const errorContent = (status: number, example = refusalExample(status)) => ({
  'application/json': {
    schema: { $ref: '#/components/schemas/Error' },
    ...(example !== undefined && { example }),
  },
});

const ownHeaders = (status: number) => ({
  ...everyAnswer,
  ...(status < 300 && counted),
  ...((status === 429 || status === 503) && { 'Retry-After': refTo('RetryAfter') }),
  ...(status === 429 && counted),
  ...(status === 401 && { 'WWW-Authenticate': text('`Bearer`') }),
  ...(status === 405 && { Allow: text('The methods that the resource supports') }),
});

/** Statuses that operations have without declaring them. */
const shared = [400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 431] as const;

/** The answers that operations refer to, by name. */
export const commonResponses = {
  ...Object.fromEntries(
    shared.map((status) => [
      `Refused${status}`,
      { description: meanings[status], headers: ownHeaders(status), content: errorContent(status) },
    ]),
  ),
  Failed: {
    description:
      'A temporary failure or a defect. 500 is a defect. After 503, try again. 504 means that a service took too long.',
    headers: ownHeaders(503),
    content: errorContent(503),
  },
};

/** Returns the statuses that a route can answer with whether or not it declares them. */
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
    431,
  ];
}

/** Returns an operation's answers by status. */
export function responsesOf(route: RouteManifest, path: string, components: Components): Record<string, unknown> {
  const general = generalStatuses(route, path).map((status) => [
    status,
    { $ref: `#/components/responses/Refused${status}` },
  ]);
  const own = Object.entries(route.answers).map(([status, answer]) => [
    status,
    response(Number(status), answer, route, components),
  ]);
  return { ...Object.fromEntries([...general, ...own]), '5XX': { $ref: '#/components/responses/Failed' } };
}

function response(status: number, answer: AnswerManifest, route: RouteManifest, components: Components) {
  const { idempotent } = route;
  const { about, headers: special = {}, schema, contentType = 'application/json', example } = answer;
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
    ...(isRefusal && { content: errorContent(status, example) }),
    ...(schema && {
      content: { [contentType]: { schema: named(components, componentName(route, 'Answer'), schema) } },
    }),
    ...(!schema && answer.contentType && { content: { [contentType]: { schema: bytes(contentType) } } }),
  };
}

const bytes = (contentType: string) => (contentType.startsWith('text/') ? { type: 'string' } : {});

const sentence = (words: string): string =>
  `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
