import type { Setting } from './setting.ts';

/**
 * A text that only settings without restrictions accept. The others' refusals say what they accept, if their schemas do
 * not.
 */
const refused = '\u0000';

/** Describes the texts that a setting takes. */
export function whatItTakes({ schema }: Setting<unknown>): string {
  if (schema.description !== undefined) return schema.description;
  const result = schema.safeParse(refused);
  return result.success ? 'any text' : (result.error.issues[0]?.message.replace(/^must (be )?/, '') ?? '');
}
