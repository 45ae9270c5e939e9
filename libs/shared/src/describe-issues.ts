import type { z } from 'zod';

/** Of a member that no schema knows. */
export const unknownMember = 'is not known here';

/** What the schema says of these when nothing was given would speak of its type. */
const aboutTheValue: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

/**
 * One message for each member: the first one found, by its dotted path. With the input that was read, a member that is
 * not there "is required".
 */
export function describeIssues(error: z.ZodError, input?: unknown): Record<string, string> {
  // A Map, since a member may be called like one that every object inherits.
  const details = new Map<string, string>();
  for (const issue of error.issues) {
    const unknownKeys = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
    for (const key of unknownKeys ?? ['']) {
      const path = [...issue.path, ...(key ? [key] : [])].join('.') || 'body';
      if (!details.has(path)) details.set(path, unknownKeys ? unknownMember : messageOf(issue, input));
    }
  }
  return Object.fromEntries(details);
}

function messageOf({ code, path, message }: z.core.$ZodIssue, input: unknown): string {
  if (input === undefined || path.length === 0 || !aboutTheValue.has(code ?? '')) return message;
  return valueAt(input, path) === undefined ? 'is required' : message;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (parent, key) => (typeof parent === 'object' && parent !== null ? Reflect.get(parent, key) : undefined),
    value,
  );
