import { boundedText } from '@recordbus/text/bounded-text';
import { parseJson } from '@recordbus/text/json';
import { z } from 'zod';

/** Who may publish to a pattern's channels, and who may subscribe (realtime §7.2). */
export interface ChannelRule {
  /** A channel name, in which `*` stands for any characters. */
  readonly pattern: string;
  readonly publish_rule: string | null;
  readonly subscribe_rule: string | null;
}

const maxRules = 100;

const rule = z.union([z.null(), z.string()], 'must be null, "" or an expression');

const entry = z.strictObject(
  {
    pattern: boundedText(200).regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must have 1 to 200 characters without control characters'),
    publish_rule: rule,
    subscribe_rule: rule,
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `has an unknown ${issue.keys.join(', ')}` : 'must be an object',
  },
);

/** The text in `realtime.channels`: a JSON array of {pattern, publish_rule, subscribe_rule}. */
export const channelRules = z.string().transform((text, context): readonly ChannelRule[] => {
  const result = z
    .array(entry, 'must be a JSON array of patterns')
    .max(maxRules, `must have at most ${maxRules} patterns`)
    .safeParse(parseJson(text));
  const message = result.success ? findDuplicate(result.data) : describe(result.error);
  if (result.success && !message) return result.data;
  context.addIssue({ code: 'custom', message: message ?? 'is not valid' });
  return z.NEVER;
});

/** Returns a message about a pattern that appears twice, since only the first one would decide. */
function findDuplicate(rules: readonly ChannelRule[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, { pattern }] of rules.entries()) {
    if (seen.has(pattern)) return `pattern ${index + 1}: ${pattern} appears twice`;
    seen.add(pattern);
  }
  return undefined;
}

function describe(error: z.ZodError): string {
  const issue = error.issues[0];
  const [index, member] = issue?.path ?? [];
  const place =
    typeof index === 'number' ? `pattern ${index + 1}: ${member === undefined ? '' : `${String(member)} `}` : '';
  return `${place}${issue?.message ?? 'is not valid'}`;
}
