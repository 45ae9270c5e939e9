import { findEventNameProblem } from '@recordbus/bus/event-name';
import { messageOf } from '@recordbus/errors';
import { z } from '@recordbus/extensions';
import type { EventDescription } from '../description.ts';
import { anySchema } from './any-schema.ts';
import { jsonText } from './json-text.ts';

/** The most characters of an event's schema and example together, as JSON. */
const maxLength = 65_536;

/** A declared event (extensions §1.4). */
export const event = z
  .strictObject({
    name: z.string().refine((name) => findNameProblem(name) === undefined, {
      error: ({ input }) => findNameProblem(String(input)),
    }),
    description: z.string().min(1).max(500),
    schema: anySchema,
    example: z.unknown(),
  })
  .transform(({ name, description, schema, example }, context): EventDescription => {
    try {
      return { name, description, ...describe(schema, example) };
    } catch (error) {
      const message = messageOf(error);
      context.addIssue({ code: 'custom', path: ['example'], message });
      return z.NEVER;
    }
  });

function findNameProblem(name: string): string | undefined {
  const isOwn = name.startsWith('system.') || name === 'webhooks.test';
  return isOwn ? 'is a product event' : findEventNameProblem(name);
}

/** Checks the example as receivers get it. */
function describe(schema: z.ZodType, example: unknown): Pick<EventDescription, 'schema' | 'example'> {
  const sent: unknown = JSON.parse(jsonText(example));
  const result = schema.safeParse(sent);
  if (!result.success) throw new Error(`does not fit the schema: ${z.prettifyError(result.error)}`);
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  if (jsonText(described).length + jsonText(sent).length > maxLength)
    throw new Error(`and schema have more than ${maxLength} characters as JSON`);
  return { schema: described, example: sent };
}
