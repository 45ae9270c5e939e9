import type { z } from 'zod';
import { issueSentence } from './issue-sentence.ts';

/** The message for a member that no schema knows. */
export const unknownMember = 'is not known here';

/** Issues whose messages describe the type even when the value is missing. */
const typeIssues: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

/**
 * How many details an answer may have. It exceeds the number of settings, whose PATCH names every invalid key (settings
 * §1.3).
 */
const maxDetails = 1000;

/**
 * Returns one message for each invalid member, by its dotted path: the first issue of each, for the first thousand
 * members. Given the input, a missing member gets "is required". The schema library's messages become sentences.
 */
export function describeIssues(error: z.ZodError, input?: unknown): Record<string, string> {
  // A Map, since a member may have the name of one that every object inherits.
  const details = new Map<string, string>();
  for (const issue of error.issues) {
    const unknownKeys = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
    for (const key of unknownKeys ?? ['']) {
      const path = [...issue.path, ...(key ? [key] : [])].join('.') || 'body';
      if (details.size === maxDetails) return Object.fromEntries(details);
      if (!details.has(path)) details.set(path, unknownKeys ? unknownMember : messageOf(issue, input));
    }
  }
  return Object.fromEntries(details);
}

function messageOf(issue: z.core.$ZodIssue, input: unknown): string {
  const { code, path } = issue;
  const message = issueSentence(issue);
  if (input === undefined || path.length === 0 || !typeIssues.has(code ?? '')) return message;
  return valueAt(input, path) === undefined ? 'is required' : message;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (parent, key) => (typeof parent === 'object' && parent !== null ? Reflect.get(parent, key) : undefined),
    value,
  );
