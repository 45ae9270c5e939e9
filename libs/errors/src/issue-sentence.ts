import { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The messages that the schema library writes where a schema has none of its own. */
const { localeError: writtenByLibrary } = z.locales.en();

/** How long a value list in a sentence may be, in characters. */
const maxListed = 500;

const quoted = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)) ?? 'undefined';

function listOf(values: readonly unknown[]): string {
  const text = values.map(quoted).join(', ');
  return text.length <= maxListed ? text : `${text.slice(0, maxListed)}…`;
}

/** What a type's value must be. */
const ofType: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  bigint: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  tuple: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
  map: 'must be an object',
  null: 'must be null',
  nonoptional: 'is required',
  undefined: 'may not be given',
  never: 'may not be given',
};

/** What a format's text must be. */
const ofFormat: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  uuid: 'a UUID',
  guid: 'a UUID',
  date: 'a date such as 2026-01-31',
  datetime: 'a date and time such as 2026-01-31T12:00:00Z',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'a network such as 192.0.2.0/24',
  cidrv6: 'a network such as 2001:db8::/32',
  base64: 'base64',
  json_string: 'JSON',
};

/** Says how many of what a value has. */
function countOf(origin: string, count: number | bigint): string {
  const one = Number(count) === 1;
  if (origin === 'string') return `${count} ${one ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `${count} ${one ? 'entry' : 'entries'}`;
  return `${count} ${one ? 'member' : 'members'}`;
}

const isNumeric = (origin: string): boolean => ['number', 'int', 'bigint', 'date'].includes(origin);

function boundSentence(
  { origin, inclusive, exact }: { readonly origin: string; readonly inclusive?: boolean; readonly exact?: boolean },
  bound: number | bigint,
  isLeast: boolean,
): string {
  const limit = isLeast ? 'least' : 'most';
  if (isNumeric(origin)) {
    if (inclusive === false) return `must be ${isLeast ? 'above' : 'below'} ${bound}`;
    return `must be at ${limit} ${bound}`;
  }
  if (exact) return `must have ${countOf(origin, bound)}`;
  return isLeast && Number(bound) === 1 ? 'must not be empty' : `must have at ${limit} ${countOf(origin, bound)}`;
}

function formatSentence(issue: Extract<Issue, { readonly code: 'invalid_format' }>): string {
  const { format, pattern, prefix, suffix, includes } = issue as typeof issue & Readonly<Record<string, unknown>>;
  if (format === 'starts_with') return `must begin with ${quoted(prefix)}`;
  if (format === 'ends_with') return `must end with ${quoted(suffix)}`;
  if (format === 'includes') return `must contain ${quoted(includes)}`;
  if (format === 'regex') return `must match ${pattern}`;
  return `must be ${ofFormat[format] ?? `a valid ${format}`}`;
}

/** What fits one of several schemas: all of them, if each names a type, or else what the closest one lacks. */
function unionSentence(issue: Extract<Issue, { readonly code: 'invalid_union' }>): string {
  const { options } = issue as { readonly options?: readonly unknown[] };
  if (options && options.length > 0) return `must be one of ${listOf(options)}`;
  const branches = issue.errors.flatMap(([first]) => (first ? [first] : []));
  const closest = branches.find(({ path }) => path.length > 0);
  if (closest) return `${closest.path.map(String).join('.')} ${issueSentence(closest)}`;
  const sentences = new Set(branches.map((branch) => issueSentence(branch)));
  return sentences.size === 0
    ? 'fits more than one form'
    : [...sentences].join(', or ').replaceAll(', or must be ', ' or ');
}

function sentenceOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return ofType[issue.expected] ?? `must be a ${issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${quoted(issue.values[0])}`
        : `must be one of ${listOf(issue.values)}`;
    case 'too_small':
      return boundSentence(issue, issue.minimum, true);
    case 'too_big':
      return boundSentence(issue, issue.maximum, false);
    case 'invalid_format':
      return formatSentence(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return unionSentence(issue);
    case 'invalid_key':
    case 'invalid_element': {
      const [first] = issue.issues;
      const what = issue.code === 'invalid_key' ? 'has a name that' : 'has an entry that';
      return first ? `${what} ${issueSentence(first)}` : 'is not valid';
    }
    case 'unrecognized_keys':
      return `has members that are not known here: ${listOf(issue.keys)}`;
    default:
      return 'is not valid';
  }
}

/** Whether the library wrote the message. The message about a type names the type that came, which an issue lacks. */
function isOfLibrary(issue: Issue): boolean {
  const { message } = issue;
  if (issue.code === 'invalid_type') return message.startsWith('Invalid input: expected ');
  const written = writtenByLibrary(issue as z.core.$ZodRawIssue);
  return message === (typeof written === 'string' ? written : written?.message);
}

/**
 * Returns an issue's message as a client reads it: the schema's own, or a sentence that says what is expected. The
 * schema library's own words never reach a client (http §4.3).
 */
export const issueSentence = (issue: Issue): string => (isOfLibrary(issue) ? sentenceOf(issue) : issue.message);
