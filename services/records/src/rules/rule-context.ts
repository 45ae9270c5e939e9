import type { WriteContext } from '@recordbus/journal';
import { authOf, holdsForKind, type QuerySchema, type RequestValues } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { isAdmin, rightsOf } from '@recordbus/request/key-rights';
import type { RecordAct } from '@recordbus/request/scope';
import { type Collection, perCollection, type RuleName } from '@recordbus/schema';
import { isOpenTo } from './authorize.ts';
import { schemaFor } from './key-collections.ts';

/** What a rule may read: the principal, the request, and the collections that the rule names. */
export interface RuleContext {
  readonly principal: Principal;
  readonly request: RequestValues;
  readonly schema: QuerySchema;
  /** Set for writes that the product itself makes: no rule is checked, whatever request caused them. */
  readonly passesRules?: true;
}

/** One request: its context, and what rules read from it. */
export interface Call extends WriteContext, RuleContext {
  /** Whether the caller has solved the captcha that a new account asks for (auth §10.3). */
  readonly hasSolvedCaptcha?: boolean;
}

type Caller = Pick<RuleContext, 'principal' | 'passesRules'>;

interface CallInput {
  readonly context: WriteContext;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  queryText(name: string): string | undefined;
  header(name: string): string | undefined;
}

/** Returns the call for a request with this HTTP method. */
export function callOf(
  method: string,
  { context, body, queryText, header }: CallInput,
  { schema }: Pick<RuleContext, 'schema'>,
): Call {
  const { requestId, traceparent, clientAddress, principal, batch } = context;
  const request = { method, auth: authOf(principal), body, query: queryText, header };
  return {
    requestId,
    traceparent,
    clientAddress,
    principal,
    request,
    schema: schemaFor(principal, schema),
    batch,
  };
}

/** Returns the call for a write that the product makes because of the given call. */
export const withoutRules = (call: Call): Call => ({ ...call, passesRules: true });

/** Whether the caller passes every rule that the collection has for an act, as admins do. */
export const passesRules = (
  { principal, passesRules }: Caller,
  { name }: Pick<Collection, 'name'>,
  act: RecordAct,
): boolean =>
  passesRules === true ||
  isAdmin(principal) ||
  (principal.type === 'service' && rightsOf(principal.scopes).recordRight(name, act) === 'pass');

/** Whether a rule decides what the caller may do. */
export const isRuled = (collection: Collection, action: RuleName, caller: Caller): boolean =>
  caller.passesRules !== true && !isOpenTo(collection.rules[action], caller.principal);

/** Whether the rule must be evaluated for this caller. A rule that holds for all callers of the kind need not be. */
export const needsRuleCheck = (collection: Collection, action: RuleName, caller: Caller): boolean =>
  isRuled(collection, action, caller) && !admitsKind(collection, action, caller.principal);

const kindsAdmittedBy = perCollection(() => new Map<string, boolean>());

/**
 * Whether a rule holds for all callers of a kind. The result is the same for all callers who share statement texts
 * (`callerKind`).
 */
function admitsKind(collection: Collection, action: RuleName, principal: Principal): boolean {
  if (principal.type === 'guest') return false;
  const { type } = principal;
  const users = type === 'user' ? principal.collection : undefined;
  const admitted = kindsAdmittedBy(collection);
  const key = `${action} ${type} ${users}`;
  const known = admitted.get(key);
  if (known !== undefined) return known;
  const admits = holdsForKind(collection.rules[action] ?? '', { type, collection: users });
  admitted.set(key, admits);
  return admits;
}
