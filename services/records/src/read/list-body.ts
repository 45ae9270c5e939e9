import { malformed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { z } from 'zod';
import { listQuery } from './list-query.ts';

const names = z.union([z.string(), z.array(z.string())], 'must be a list of names, or names separated by commas');

/** A list's parameters as a body's members. Lists are JSON lists, numbers and switches are JSON's. */
const members = {
  page: z.number().optional(),
  perPage: z.number().optional(),
  sort: names.optional(),
  consistency: z.string().optional(),
  fields: names.optional(),
  skipTotal: z.boolean().optional(),
  filter: z.string().optional(),
  cursor: z.string().optional(),
  expand: names.optional(),
  search: z.string().optional(),
  searchMode: z.string().optional(),
  searchFields: names.optional(),
  facets: names.optional(),
  highlight: names.optional(),
  nearVector: z.array(z.number()).optional(),
  nearVectorField: z.string().optional(),
  nearLimit: z.number().optional(),
  nearMinScore: z.number().optional(),
  hybrid: z.number().optional(),
} satisfies Readonly<Record<keyof typeof listQuery.shape, z.ZodType>>;

/** A list's parameters as JSON, before they are read (records §3.7). */
export const listMembers = z.strictObject(members);

interface Queried {
  queryText(name: string): string | undefined;
}

/** A list's parameters. Rules read their texts as those in a query, and then the request's own query. */
interface ReadBody extends Queried {
  readonly parameters: z.output<typeof listQuery>;
}

/** Reads a list's parameters in a body like those in a query. Throws 400 naming each invalid one. */
export function readListBody(given: z.output<typeof listMembers>, request: Queried): ReadBody {
  const texts = new Map(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, textOf(name, value)]])),
  );
  const parameters = parseOrRefuse(listQuery, Object.fromEntries(texts));
  return { parameters, queryText: (name) => texts.get(name) ?? request.queryText(name) };
}

/** Parses a value. Throws 400 naming each invalid member. */
export function parseOrRefuse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = describeIssues(result.error, value);
  const [name = 'body', message = 'not valid'] = Object.entries(details)[0] ?? [];
  throw malformed(`${name}: ${message}`, details);
}

function textOf(name: string, value: string | number | boolean | readonly unknown[]): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value !== 'object') return String(value);
  return name === 'nearVector' ? JSON.stringify(value) : value.join(',');
}
