import { findEventNameProblem } from '@recordbus/bus';
import { mapOf } from '@recordbus/http/map-of';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

const maxUrlLength = 2048;
const maxPatterns = 100;
const maxHeaders = 50;
/** Values within `in (…)` do not count towards an expression's own limit. */
const maxFilterLength = 1_000_000;

const maxPatternLength = 255;
const secretPattern = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
export const secretPrefix = 'whsec_';
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const invalidInHeader = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers that the sender sets itself (webhooks §1.4), or that change how the request is read. */
const reservedHeaders = new Set([
  'host',
  'content-length',
  'content-type',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'x-service-event',
  'x-service-delivery',
  'x-service-timestamp',
  'x-service-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

/** The URL as it is called: without the spaces around it, a fragment, or backslashes, and with an ASCII host. */
const url = boundedText(maxUrlLength, 'must be a URL').transform((text, { issues }) => {
  // A webhook that was read, and is sent back, has an empty one if its events are read.
  if (text === '') return text;
  const problem = findUrlProblem(text);
  if (problem) issues.push({ code: 'custom', message: problem, input: text });
  return calledUrl(text);
});

function calledUrl(text: string): string {
  const parsed = URL.parse(text);
  if (!parsed) return text;
  parsed.hash = '';
  return parsed.href;
}

function findUrlProblem(text: string): string | undefined {
  const parsed = URL.parse(text);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'must be a URL that starts with http:// or https://';
  if (parsed.username || parsed.password) return 'must not carry credentials; use a header';
  if (calledUrl(text).length > maxUrlLength)
    return `must have at most ${maxUrlLength} characters; it is longer when it is called`;
  return undefined;
}

/** Whether the text is `*`, an event name, or the beginning of one and `.*` (webhooks §1.3). */
const isPattern = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length <= maxPatternLength &&
  (text === '*' || findEventNameProblem(text.replace(/\.\*$/, '')) === undefined);

const events = z
  // Every bad pattern is named, whatever its type, so the items are checked below.
  .array(z.unknown().meta({ type: 'string' }), 'must be a list of event patterns')
  .min(1, 'must have at least one pattern')
  .max(maxPatterns, `must have at most ${maxPatterns} patterns`)
  .transform((patterns, { issues }) => {
    const good = patterns.filter(isPattern);
    const bad = patterns.find((text) => !isPattern(text));
    if (good.length < patterns.length)
      issues.push({
        code: 'custom',
        message: `${JSON.stringify(bad)} is not an event pattern like posts.create, posts.* or *`,
        input: patterns,
      });
    return good;
  });

const headers = mapOf(z.unknown(), 'must be an object with header names and values').transform((values, { issues }) => {
  const problem = findHeaderProblem(values);
  if (problem) issues.push({ code: 'custom', message: problem, input: values });
  return values as Record<string, string>;
});

function findHeaderProblem(values: Record<string, unknown>): string | undefined {
  const names = Object.keys(values).map((name) => name.toLowerCase());
  if (names.length > maxHeaders) return `must have at most ${maxHeaders} headers`;
  if (new Set(names).size < names.length) return 'must not name a header twice';
  for (const [name, value] of Object.entries(values)) {
    if (!headerName.test(name)) return `${JSON.stringify(name)} is not a header name`;
    if (reservedHeaders.has(name.toLowerCase())) return `${name} may not be set`;
    if (typeof value !== 'string') return `${name} must be a string`;
    if (invalidInHeader.test(value)) return `${name} must not contain line breaks or control characters`;
  }
  return undefined;
}

const secret = boundedText(255)
  .regex(secretPattern, 'must be whsec_ and base64, such as whsec_$(openssl rand -base64 32)')
  .refine((text) => {
    const bytes = Buffer.from(text.slice(secretPrefix.length), 'base64').length;
    return bytes >= 24 && bytes <= 64;
  }, 'must be whsec_ and base64 of 24 to 64 bytes, such as whsec_$(openssl rand -base64 32)');

/** A whole number within bounds, in the words of an answer. */
export const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};

const rateMessage = 'must be null or a number of deliveries a second from 0.1 to 1000';

/** How many deliveries a request has, and how long the first one waits for others (webhooks §2.11). */
const batch = z.strictObject(
  { max: wholeNumber(1, 100), wait_ms: wholeNumber(0, 60_000).default(1000) },
  'must be null or an object with max and wait_ms',
);

/** The members that a webhook's body may have (webhooks §1.2), each with its limits. */
export const webhookMembers = {
  name: z.string('must be a string').trim().min(1, 'must not be empty').max(255, 'must have at most 255 characters'),
  url,
  events,
  secret,
  headers,
  enabled: z.boolean('must be true or false'),
  retry_max: wholeNumber(0, 50),
  retry_backoff: z.enum(['exponential', 'fixed'], 'must be exponential or fixed'),
  retry_delay_ms: wholeNumber(100, 86_400_000),
  timeout_ms: wholeNumber(100, 60_000),
  payload_days: wholeNumber(0, 30).nullable(),
  filter: boundedText(maxFilterLength, 'must be null or an expression')
    .transform((text) => text.trim() || null)
    .nullable(),
  rate: z.number(rateMessage).min(0.1, rateMessage).max(1000, rateMessage).nullable(),
  ordering: z.enum(['none', 'record', 'all'], 'must be none, record or all'),
  on_failure: z.enum(['block', 'skip'], 'must be block or skip'),
  batch: batch.nullable(),
};
