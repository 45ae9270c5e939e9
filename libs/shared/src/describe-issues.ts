import type { z } from 'zod';

/** Of a member that no schema knows. */
export const unknownMember = 'is not known here';

/** One message for each member: the first one found, by its dotted path. */
export function describeIssues(error: z.ZodError): Record<string, string> {
  // A Map, since a member may be called like one that every object inherits.
  const details = new Map<string, string>();
  for (const issue of error.issues) {
    const unknownKeys = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
    for (const key of unknownKeys ?? ['']) {
      const path = [...issue.path, ...(key ? [key] : [])].join('.') || 'body';
      if (!details.has(path)) details.set(path, unknownKeys ? unknownMember : issue.message);
    }
  }
  return Object.fromEntries(details);
}
