import { boundedText } from '@recordbus/text/bounded-text';
import { parseJson } from '@recordbus/text/json';
import { z } from 'zod';

const actions = ['auth', 'create', 'list', 'view', 'update', 'delete', 'subscribe'] as const;
const audiences = ['all', 'guest', 'auth'] as const;

/** A rate limit: at most `max` requests in `windowMs` from one caller (http §8.1). */
export interface RateRule {
  readonly label: string;
  /** The label on the service keys that it is for (keys §6); undefined for the rules for all callers. */
  readonly keyLabel?: string | undefined;
  /** The label's path: exact (`/api/v1/posts`, without a trailing slash), prefix (`/api/*`) or `*`. */
  readonly path: string;
  /** The label's action; undefined when the rule is for all actions. */
  readonly action: (typeof actions)[number] | undefined;
  readonly max: number;
  readonly windowMs: number;
  readonly audience: (typeof audiences)[number];
}

const maxRules = 500;
const dayMs = 86_400_000;
/** A service key's label after `#`, or `*`, `/a/b` or `/a/*`; then the action. */
const labelPattern = /^(?:#([A-Za-z0-9_-]{1,64}))?(|\*|\/[^\s*?#:]*|\/(?:[^\s*?#:]*\/)?\*)(?::([a-z]+))?$/;
const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};

const rule = z
  .strictObject(
    {
      label: boundedText(300).refine((label) => splitLabel(label), {
        error: `must be <path>[:<action>]: a path like /api/v1/posts, /api/* or *, an action (${actions.join(', ')}); for keys after #<label>`,
      }),
      max: whole(1, 1_000_000_000),
      windowMs: whole(1, dayMs),
      audience: z.enum(audiences, `must be one of ${audiences.join(', ')}`).default('all'),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? `has an unknown ${issue.keys.join(', ')}` : 'must be an object',
    },
  )
  .transform(
    (given): RateRule => ({
      ...given,
      ...(splitLabel(given.label) ?? { path: '*', action: undefined }),
    }),
  );

/** The text in `rate_limit.rules`: a JSON array of {label, max, windowMs, audience}. */
export const rateRules = z.string().transform((text, context): readonly RateRule[] => {
  const result = z
    .array(rule, 'must be a JSON array of rules')
    .max(maxRules, `must have at most ${maxRules} rules`)
    .safeParse(parseJson(text));
  const message = result.success ? findDuplicate(result.data) : describe(result.error);
  if (result.success && !message) return result.data;
  context.addIssue({ code: 'custom', message: message ?? 'is not valid' });
  return z.NEVER;
});

function splitLabel(label: string): Pick<RateRule, 'keyLabel' | 'path' | 'action'> | undefined {
  const [, keyLabel, given, action] = labelPattern.exec(label) ?? [];
  // Only a key's label may have no path.
  const path = given === '' && keyLabel !== undefined ? '*' : given;
  if (path === undefined || path === '') return undefined;
  const known = actions.find((name) => name === action);
  return action !== undefined && !known
    ? undefined
    : {
        ...(keyLabel !== undefined && { keyLabel }),
        path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path,
        action: known,
      };
}

/** Returns a message about two rules for the same requests, since either could apply. */
function findDuplicate(rules: readonly RateRule[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, { label, keyLabel = '', path, action = '', audience }] of rules.entries()) {
    const name = `${keyLabel}${path}:${action} ${audience}`;
    if (seen.has(name)) return `rule ${index + 1}: ${label} for ${audience} appears twice`;
    seen.add(name);
  }
  return undefined;
}

function describe(error: z.ZodError): string {
  const issue = error.issues[0];
  const [index, member] = issue?.path ?? [];
  const place =
    typeof index === 'number' ? `rule ${index + 1}: ${member === undefined ? '' : `${String(member)} `}` : '';
  return `${place}${issue?.message ?? 'is not valid'}`;
}
