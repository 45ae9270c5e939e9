import type { Collection, RuleName } from '@recordbus/schema';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';
import { canHold } from '../resolve/can-hold.ts';
import { resolve } from '../resolve/resolve.ts';
import type { QuerySchema } from '../resolve/scope.ts';

/** A rule that lets guests write, or read accounts, which its author may not intend. */
export interface OpenRule {
  readonly name: RuleName;
  /** True for an expression that may hold for a guest; false for null, which always holds. */
  readonly isConditional: boolean;
}

/** Actions by which guests write records, or read accounts. */
const watched = {
  base: ['create', 'update', 'delete'],
  auth: ['list', 'view', 'create', 'update', 'delete'],
  view: [],
} as const satisfies Record<Collection['type'], readonly RuleName[]>;

/**
 * Finds a collection's rules that let guests write, or read accounts. An expression as the create rule for accounts
 * does not count: every caller is a guest before signing up, and the expression checks the new account.
 */
export function findOpenRules(collection: Collection, schema: QuerySchema): OpenRule[] {
  const { type, rules } = collection;
  return watched[type].flatMap((name): OpenRule[] => {
    const rule = rules[name];
    if (rule === null) return [{ name, isConditional: false }];
    if (rule === '' || (type === 'auth' && name === 'create')) return [];
    return mayHoldForGuests(rule, { collection, schema }) ? [{ name, isConditional: true }] : [];
  });
}

/** Actions on a collection's records. */
const actions = {
  base: ['list', 'view', 'create', 'update', 'delete'],
  auth: ['list', 'view', 'create', 'update', 'delete'],
  view: ['list', 'view'],
} as const satisfies Record<Collection['type'], readonly RuleName[]>;

/** Returns what a collection's rules may let guests do, with some record or body (collections §3.2). */
export function guestActions(collection: Collection, schema: QuerySchema): RuleName[] {
  /** Most collections have the same expression in several rules. */
  const known = new Map<string | null, boolean>([
    [null, true],
    ['', false],
  ]);
  return actions[collection.type].filter((name) => {
    const rule = collection.rules[name];
    const found = known.get(rule) ?? mayHoldForGuests(rule ?? '', { collection, schema });
    known.set(rule, found);
    return found;
  });
}

function mayHoldForGuests(rule: string, scope: { collection: Collection; schema: QuerySchema }): boolean {
  try {
    return canHold(resolve(parse(rule), { ...scope, audience: 'rule' }), undefined);
  } catch (error) {
    // A rule that cannot be compiled admits nobody.
    if (error instanceof QueryError) return false;
    throw error;
  }
}
