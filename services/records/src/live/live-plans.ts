import type { LiveCaller, LivePlan, LiveRequest } from '@recordbus/live';
import { authOf, type QuerySchema, type RequestValues } from '@recordbus/query';
import { type Collection, type CollectionCache, perCollection } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { AppError } from '@recordbus/shared/errors';
import { authorize } from '../rules/authorize.ts';
import { callerKind } from '../rules/compile-rule.ts';
import { collectionFor, schemaFor } from '../rules/key-collections.ts';
import { type CompiledPlan, compilePlan } from './compile-plan.ts';

/** The maximum number of compiled plans of a collection that are cached. */
const maxKept = 2000;
/** Longer requests are compiled each time. */
const maxKeptLength = 10_000;

interface PlanDeps {
  readonly collections: Pick<CollectionCache, 'find'>;
  readonly schema: QuerySchema;
}

/** The compiled plans of the current schema. */
export interface LivePlans {
  /** Compiles a caller's subscription to a collection. Throws 400 for an invalid filter or `expand`. */
  compile(collection: Collection, request: LiveRequest, principal: Principal): CompiledPlan;
  /**
   * Compiles a plan again; undefined if the request now has another key, or is refused, because the schema has changed.
   */
  find(plan: LivePlan): CompiledPlan | undefined;
}

/** Creates the plans. Plans of earlier schemas are garbage-collected. */
export function createLivePlans({ collections, schema }: PlanDeps): LivePlans {
  const keptOf = perCollection(() => new Map<string, CompiledPlan>());

  function compile(collection: Collection, request: LiveRequest, principal: Principal): CompiledPlan {
    const { record, filter, fields, expand } = request;
    const shape = JSON.stringify([callerKind({ principal }), record !== undefined, filter, fields, expand]);
    const kept = keptOf(collection);
    const known = kept.get(shape);
    if (known) return known;
    const compiled = compilePlan(collection, request, { principal, schema: schemaFor(principal, schema) });
    if (shape.length > maxKeptLength) return compiled;
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value ?? '');
    kept.set(shape, compiled);
    return compiled;
  }

  return {
    compile,
    find({ key, request, callerKind: kind }) {
      const found = collections.find(request.collection);
      if (!found || found.type === 'view') return undefined;
      try {
        const principal = principalOf(kind);
        const collection = collectionFor(principal, found);
        authorize(collection.rules[actionOf(request)], principal);
        const compiled = compile(collection, request, principal);
        return compiled.key === key ? compiled : undefined;
      } catch (error) {
        if (error instanceof AppError) return undefined;
        throw error;
      }
    },
  };
}

/** The action whose rule decides about a subscription. */
export const actionOf = ({ record }: Pick<LiveRequest, 'record'>): 'list' | 'view' =>
  record === undefined ? 'list' : 'view';

const ofService = 'service:';

/** One of the callers of a kind. Statements are the same for all of them. */
function principalOf(kind: string): Principal {
  if (kind === 'guest') return { type: 'guest', rejectedToken: false };
  if (kind === 'admin') return { type: 'admin', id: '', email: '' };
  if (kind.startsWith(ofService)) return { type: 'service', id: '', scopes: kind.slice(ofService.length).split(' ') };
  const collection = kind.slice('user:'.length);
  return { type: 'user', id: '', email: '', collection, anonymous: false, impersonatedBy: null };
}

/** The request values that rules read for a subscription: a GET with the headers and the query of its connection. */
export const requestValuesOf = ({ principal, headers, query }: LiveCaller): RequestValues => ({
  method: 'GET',
  auth: authOf(principal),
  body: undefined,
  query: (name) => (Object.hasOwn(query, name) ? query[name] : undefined),
  header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
});
