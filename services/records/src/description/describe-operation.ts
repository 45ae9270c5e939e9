import { inEnvelope, type JsonSchema, pagesOf, type RouteManifest } from '@recordbus/http';
import {
  isReservedCollectionName,
  newRecordSchema,
  recordChangeSchema,
  recordFormSchema,
  recordSchema,
  requiredOf,
} from '@recordbus/schema';
import type { Expansions } from './describe-expansions.ts';
import { componentsOf, type RecordOperation, referTo, type ShownCollection } from './shown-collection.ts';

/** The operations that take operators. Their bodies have a change's schema. */
const changing = new Set<RecordOperation>(['update', 'put', 'upsert']);

/** Whether the answer has the collection's records. */
const showsRecord = (operation: RecordOperation): boolean =>
  !['aggregate', 'delete', 'export', 'history'].includes(operation);

/** The schemas to which a collection's operations refer. */
export function schemasOf(
  { read, written, operations, needsPassword }: ShownCollection,
  expansions: Expansions,
): Record<string, JsonSchema> {
  const names = componentsOf(read);
  const { page, cursorPage } = pagesOf(referTo(names.record));
  return {
    ...(operations.includes('list') && { [names.page]: page, [names.cursorPage]: cursorPage }),
    ...(operations.some(showsRecord) && { [names.record]: recordSchema(read, expansions) }),
    ...(operations.includes('create') && { [names.create]: newRecordSchema(written, { needsPassword }) }),
    ...(operations.some((operation) => changing.has(operation)) && { [names.update]: recordChangeSchema(written) }),
  };
}

/** The generic route as this collection's route. `expandable` has the names in `expand`. */
export function describeOperation(
  route: RouteManifest,
  operation: RecordOperation,
  { read, written }: ShownCollection,
  expandable: readonly string[],
): RouteManifest {
  const { create, update } = componentsOf(read);
  const content = operation === 'create' ? create : changing.has(operation) ? update : undefined;
  const { multipartBody: _, ...rest } = route;
  const isNew = operation === 'create';
  const form =
    content === undefined || !route.multipartBody ? undefined : recordFormSchema(written, { content, isNew });
  const query = describeExpand(route.query, expandable);
  return {
    ...rest,
    operationId: `${operation}_${read.name}`,
    tag: read.name,
    paths: pathsOf(route, read.name),
    ...(query && { query }),
    ...(content !== undefined && { body: referTo(content) }),
    ...(form && { multipartBody: form }),
    answers: {
      ...route.answers,
      ...shownAnswers(route, operation, componentsOf(read)),
      ...refusals(route, operation, requiredOf(written)),
    },
  };
}

/** A route's paths for a collection. The API's routes hide a reserved name's short ones (collections §1.3). */
function pathsOf({ paths }: RouteManifest, name: string): string[] {
  const shown = isReservedCollectionName(name) ? paths.filter((path) => path.includes('/records/:collection')) : paths;
  return shown.map((path) => path.replace(':collection', name));
}

/** The parameter `expand` with the names that it takes. */
function describeExpand(query: JsonSchema | undefined, names: readonly string[]): JsonSchema | undefined {
  const members = query?.properties as Readonly<Record<string, JsonSchema>> | undefined;
  if (!members?.expand || names.length === 0) return query;
  const expand = {
    ...members.expand,
    description: `${members.expand.description}: ${names.map((name) => `\`${name}\``).join(', ')}`,
    examples: [names[0]],
  };
  return { ...query, properties: { ...members, expand } };
}

/** The answers with records. */
function shownAnswers(
  { answers }: RouteManifest,
  operation: RecordOperation,
  { record, page, cursorPage }: ReturnType<typeof componentsOf>,
) {
  if (!showsRecord(operation)) return {};
  const schema = operation === 'list' ? { oneOf: [referTo(page), referTo(cursorPage)] } : inEnvelope(referTo(record));
  const statuses = operation === 'create' ? [201] : operation === 'put' || operation === 'upsert' ? [200, 201] : [200];
  return Object.fromEntries(statuses.map((status) => [status, { ...answers[status], schema }]));
}

/** A body's refusal, with one of this collection's fields. */
function refusals(
  { answers }: RouteManifest,
  operation: RecordOperation,
  [required]: readonly string[],
): RouteManifest['answers'] {
  if (operation !== 'create' || required === undefined || !answers[422]) return {};
  const example = { error: 'validation failed', code: 'validation_failed', details: { [required]: 'is required' } };
  return { 422: { ...answers[422], example } };
}
