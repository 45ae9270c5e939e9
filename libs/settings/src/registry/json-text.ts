import { parseJson } from '@recordbus/text/json';
import { z } from 'zod';

/** An object whose members are all known, for a setting's JSON text. */
export const settingObject = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `has an unknown ${issue.keys.join(', ')}` : 'must be a JSON object',
  });

/** A text with JSON of this shape. A refusal names the member. */
export const jsonText = <T>(shape: z.ZodType<T>) =>
  z.string().transform((text, context): T => {
    const result = shape.safeParse(parseJson(text));
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const place = issue?.path.join('.');
    context.addIssue({ code: 'custom', message: `${place ? `${place} ` : ''}${issue?.message ?? 'is not valid'}` });
    return z.NEVER;
  });
