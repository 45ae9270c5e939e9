import type { Principal } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import type { Collection, Field, Rule } from '@recordbus/schema';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';
import { callerCollection } from './caller-collection.ts';
import { canHold } from './can-hold.ts';
import { resolve } from './resolve.ts';
import type { Resolved } from './resolved.ts';
import type { QuerySchema, Scope } from './scope.ts';

/** What a field rule decides about. */
export type FieldRight = 'view' | 'write';

/** What a collection's field rules decide for one kind of caller. */
export interface FieldAccess {
  /** Fields whose rule never holds for these callers. */
  readonly closed: ReadonlySet<string>;
  /** The other fields with a rule, and the rule, which holds for some records. */
  readonly conditional: ReadonlyMap<string, string>;
}

/** Every field is open. */
export const openFields: FieldAccess = { closed: new Set(), conditional: new Map() };

const known = new WeakMap<Collection, Map<string, FieldAccess>>();

/** Returns what field rules decide for callers of this kind, computed once per schema version. */
export function fieldAccess(
  right: FieldRight,
  collection: Collection,
  principal: Principal,
  schema: QuerySchema,
): FieldAccess {
  return isAdmin(principal) ? openFields : accessOf(right, collection, callerCollection(principal, schema), schema);
}

function accessOf(
  right: FieldRight,
  collection: Collection,
  account: Collection | undefined,
  schema: QuerySchema,
): FieldAccess {
  let found = known.get(collection);
  if (!found) {
    found = new Map();
    known.set(collection, found);
  }
  const key = `${right} ${account?.id ?? ''}`;
  let access = found.get(key);
  if (!access) {
    access = readAccess(right, collection, account, schema);
    found.set(key, access);
  }
  return access;
}

/** Whether a client's expression sees a record's field (filters §7.8). */
type FieldVisibility = 'open' | 'closed' | Resolved;

/** Returns whether expressions in this scope see a field, or the condition on its record under which they do. */
export function visibilityOf({ name, viewRule }: Field, collection: Collection, scope: Scope): FieldVisibility {
  if (scope.audience !== 'client' || viewRule == null) return 'open';
  const { schema, caller } = scope;
  const rule = accessOf('view', collection, caller, schema).conditional.get(name);
  return rule === undefined ? 'closed' : resolve(parse(rule), { collection, schema, audience: 'rule', caller });
}

function readAccess(
  right: FieldRight,
  collection: Collection,
  account: Collection | undefined,
  schema: QuerySchema,
): FieldAccess {
  const ruled = collection.fields.flatMap((field): [string, string][] => {
    const rule = fieldRule(right, field);
    return rule === null ? [] : [[field.name, rule]];
  });
  if (ruled.length === 0) return openFields;
  const mayHold = ([, rule]: [string, string]) => rule !== '' && canRuleHold(rule, collection, account, schema);
  const conditional = new Map(ruled.filter(mayHold));
  const closed = new Set(ruled.map(([name]) => name).filter((name) => !conditional.has(name)));
  return { closed, conditional };
}

/** A field's rule; null for a field that is as open as its record. */
const fieldRule = (right: FieldRight, { viewRule = null, writeRule = null }: Field): Rule =>
  right === 'view' ? viewRule : writeRule;

function canRuleHold(
  rule: string,
  collection: Collection,
  account: Collection | undefined,
  schema: QuerySchema,
): boolean {
  try {
    return canHold(resolve(parse(rule), { collection, schema, audience: 'rule', caller: account }), account);
  } catch (error) {
    // A rule that cannot be compiled admits nobody.
    if (error instanceof QueryError) return false;
    throw error;
  }
}
