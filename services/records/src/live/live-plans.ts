import { AppError } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import type { LiveCaller, LivePlan, LiveRequest } from '@recordbus/live';
import { authOf, type QuerySchema, type RequestValues } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { type Collection, type CollectionCache, perCollection } from '@recordbus/schema';
import { authorize } from '../rules/authorize.ts';
import { callerKind } from '../rules/compile-rule.ts';
import { collectionFor, schemaFor } from '../rules/key-collections.ts';
import { type CompiledPlan, compilePlan } from './compile-plan.ts';

/**
 * How long, in UTF-16 code units, a collection's requests whose compiled plans are cached may be together. A plan takes
 * about 50 times as many bytes as its request.
 */
const maxKeptUnits = 200_000;
/** Longer requests are compiled each time. */
const maxKeptLength = 10_000;
/** How many plan keys are remembered as current. */
const maxCurrent = 100_000;

interface PlanDeps {
  readonly collections: Pick<CollectionCache, 'find' | 'version'>;
  readonly schema: QuerySchema;
}

/** The current schema's compiled plans. */
export interface LivePlans {
  /** Compiles a caller's subscription to a collection. Throws 400 for an invalid filter or `expand`. */
  compile(collection: Collection, request: LiveRequest, principal: Principal): CompiledPlan;
  /**
   * Compiles a plan again; undefined if the request now has another key, or is refused, because the schema has changed.
   */
  find(plan: LivePlan): CompiledPlan | undefined;
  /**
   * Whether the schema still gives these plans their keys, in order. Each is compiled once for a schema version, in
   * time slices: one client may have thousands.
   */
  areCurrent(plans: readonly LivePlan[]): Promise<readonly boolean[]>;
}

/** Creates the plans. Earlier schemas' plans are garbage-collected. */
export function createLivePlans({ collections, schema }: PlanDeps): LivePlans {
  const keptOf = perCollection(() => ({ plans: new Map<string, CompiledPlan>(), units: 0 }));

  function compile(collection: Collection, request: LiveRequest, principal: Principal): CompiledPlan {
    const { record, filter, fields, expand, showsDeleted } = request;
    const shape = JSON.stringify([
      callerKind({ principal }),
      record !== undefined,
      filter,
      fields,
      expand,
      showsDeleted,
    ]);
    const kept = keptOf(collection);
    const known = kept.plans.get(shape);
    if (known) return known;
    const compiled = compilePlan(collection, request, { principal, schema: schemaFor(principal, schema) });
    if (shape.length > maxKeptLength) return compiled;
    kept.plans.set(shape, compiled);
    kept.units += shape.length;
    for (const oldest of kept.plans.keys()) {
      if (kept.units <= maxKeptUnits) break;
      kept.plans.delete(oldest);
      kept.units -= oldest.length;
    }
    return compiled;
  }

  function find({ key, request, callerKind: kind }: LivePlan): CompiledPlan | undefined {
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
  }

  /** Keys of plans that were found, by schema version. */
  let current: { readonly version: number; readonly keys: Set<string> } = { version: -1, keys: new Set() };

  function isCurrent(plan: LivePlan): boolean {
    const { version } = collections;
    if (current.version !== version || current.keys.size >= maxCurrent) current = { version, keys: new Set() };
    if (current.keys.has(plan.key)) return true;
    if (!find(plan)) return false;
    current.keys.add(plan.key);
    return true;
  }

  return {
    compile,
    find,
    async areCurrent(plans) {
      const results: boolean[] = [];
      for await (const plan of inSlices(plans)) results.push(isCurrent(plan));
      return results;
    },
  };
}

/** The action whose rule decides about a subscription. */
export const actionOf = ({ record }: Pick<LiveRequest, 'record'>): 'list' | 'view' =>
  record === undefined ? 'list' : 'view';

/** The text; undefined for an empty one, which counts as absent, as in a query. */
export const givenText = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text);

const ofService = 'service:';

/** Any caller of a kind. Statements are the same for all. */
function principalOf(kind: string): Principal {
  if (kind === 'guest') return { type: 'guest', rejectedToken: false };
  if (kind === 'admin') return { type: 'admin', id: '', email: '' };
  if (kind.startsWith(ofService)) return { type: 'service', id: '', scopes: kind.slice(ofService.length).split(' ') };
  const collection = kind.slice('user:'.length);
  return { type: 'user', id: '', email: '', collection, anonymous: false, impersonatedBy: null };
}

/** The request values that rules read for a subscription: a GET with its connection's headers and query. */
export const requestValuesOf = ({ principal, headers, query }: LiveCaller): RequestValues => ({
  method: 'GET',
  auth: authOf(principal),
  body: undefined,
  query: (name) => (Object.hasOwn(query, name) ? query[name] : undefined),
  header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
});
