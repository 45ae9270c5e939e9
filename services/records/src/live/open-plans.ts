import { AppError, malformed, notFound } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import type { LiveCaller, LivePlan, LiveRequest, OpenResult, SnapshotRequest } from '@recordbus/live';
import type { QuerySchema } from '@recordbus/query';
import { isRecordId } from '../record/record-id.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { callerKind } from '../rules/compile-rule.ts';
import { schemaFor } from '../rules/key-collections.ts';
import type { CompiledPlan } from './compile-plan.ts';
import { actionOf, givenText, type LivePlans, requestValuesOf } from './live-plans.ts';
import { checkPage } from './snapshot.ts';

interface OpenDeps {
  readonly served: Pick<ServedCollections, 'admit'>;
  readonly plans: LivePlans;
  readonly schema: QuerySchema;
}

interface Opening {
  readonly request: SnapshotRequest;
  readonly caller: LiveCaller;
}

/** Opens subscriptions: each becomes its plan and values, or a GET's refusal. */
export async function openPlans(deps: OpenDeps, openings: readonly Opening[]): Promise<OpenResult[]> {
  const results: OpenResult[] = [];
  for await (const opening of inSlices(openings)) {
    try {
      results.push(await openPlan(deps, opening));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      results.push({ refusal: error });
    }
  }
  return results;
}

async function openPlan(
  { served, plans, schema }: OpenDeps,
  { request: written, caller }: Opening,
): Promise<OpenResult> {
  const request = withoutEmpty(written);
  const { principal } = caller;
  const collection = await served.admit({ collection: request.collection, action: actionOf(request), principal });
  if (collection.type === 'view') throw malformed(`${collection.name} is a view, whose rows change without events`);
  if (request.record !== undefined && !isRecordId(request.record)) throw notFound('record');
  const compiled = plans.compile(collection, request, principal);
  if (request.record === undefined) checkPage(collection, written, { principal, schema: schemaFor(principal, schema) });
  const values = compiled.columns.valuesOf({ request: requestValuesOf(caller), record: request.record });
  return { plan: planOf(compiled, request, callerKind({ principal })), values };
}

const planOf = (compiled: CompiledPlan, request: LiveRequest, kind: string): LivePlan => ({
  key: compiled.key,
  request,
  collectionId: compiled.collection.id,
  callerKind: kind,
  readsValues: compiled.columns.count > 0,
  hasCandidates: compiled.candidates !== undefined,
  crossed: compiled.crossed,
});

/** Empty parameters count as absent, as in a query. */
export function withoutEmpty({ collection, record, filter, expand, fields, showsDeleted }: LiveRequest): LiveRequest {
  const given = { filter: givenText(filter), expand: givenText(expand), fields: givenText(fields) };
  return { collection, record, ...given, showsDeleted };
}
