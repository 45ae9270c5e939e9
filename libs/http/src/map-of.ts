import { z } from 'zod';
import { toJsonSchema } from './answers.ts';

/**
 * Returns the schema of an object whose names a client chooses. Unlike `z.record`, which drops it, a member `__proto__`
 * is a member like any other.
 */
export const mapOf = <T extends z.ZodType>(value: T, notAnObject = 'must be an object') => {
  const record = z.record(z.string(), value, notAnObject);
  return z
    .unknown()
    .transform((given, { issues }): Record<string, z.output<T>> => {
      const read = record.safeParse(given);
      if (!read.success) for (const issue of read.error.issues) issues.push(customIssue(issue, given));
      const members: Record<string, z.output<T>> = { ...read.data };
      if (typeof given !== 'object' || given === null || !Object.hasOwn(given, '__proto__')) return members;
      const own = value.safeParse(Object.getOwnPropertyDescriptor(given, '__proto__')?.value);
      if (own.success) return { ...members, ['__proto__']: own.data };
      for (const issue of own.error.issues)
        issues.push(customIssue({ ...issue, path: ['__proto__', ...issue.path] }, given));
      return members;
    })
    .meta(toJsonSchema(record, 'input'));
};

const customIssue = ({ path, message }: Pick<z.core.$ZodIssue, 'path' | 'message'>, input: unknown) => ({
  code: 'custom' as const,
  path: [...path],
  message,
  input,
});
