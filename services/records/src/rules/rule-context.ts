import type { WriteContext } from '@recordbus/journal';
import { authOf, type QuerySchema, type RequestValues } from '@recordbus/query';
import type { Collection, RuleName } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { isAdmin, rightsOf } from '@recordbus/shared/key-rights';
import type { RecordAct } from '@recordbus/shared/scope';
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

/** One request: its context, and what rules read of it. */
export interface Call extends WriteContext, RuleContext {}

type Caller = Pick<RuleContext, 'principal' | 'passesRules'>;

interface CallInput {
  readonly context: WriteContext;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  queryText(name: string): string | undefined;
  header(name: string): string | undefined;
}

/** Returns the call of a request with this HTTP method. */
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

/** Whether the caller passes every rule of the collection for an act, as admins do. */
export const passesRules = (
  { principal, passesRules }: Caller,
  { name }: Pick<Collection, 'name'>,
  act: RecordAct,
): boolean =>
  passesRules === true ||
  isAdmin(principal) ||
  (principal.type === 'service' && rightsOf(principal.scopes).recordRight(name, act) === 'pass');

/** Whether the rule has to be evaluated for this caller. */
export const needsRuleCheck = (collection: Collection, action: RuleName, caller: Caller): boolean =>
  caller.passesRules !== true && !isOpenTo(collection.rules[action], caller.principal);
