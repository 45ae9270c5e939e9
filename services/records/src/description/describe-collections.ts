import { type FieldRight, fieldAccess } from '@recordbus/query';
import {
  type Collection,
  isUnique,
  newRecordSchema,
  type Rule,
  type RuleName,
  recordChangeSchema,
  recordSchema,
} from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import {
  inCursorPage,
  inEnvelope,
  type JsonSchema,
  type RouteManifest,
  type ServiceDescription,
} from '@recordbus/shared/http';
import { isAdmin } from '@recordbus/shared/key-rights';
import { inSlices } from '@recordbus/shared/time-slice';
import { collectionFor } from '../rules/key-collections.ts';

/** The record routes, by action. */
export type RecordRoutes = Readonly<
  Record<RuleName | 'aggregate' | 'export' | 'history' | 'put' | 'restore' | 'upsert', RouteManifest>
>;

interface DescriptionInput {
  readonly collections: readonly Collection[];
  readonly routes: RecordRoutes;
  /** The version of the collections for callers of this kind. */
  readonly version: string;
}

type Operation = keyof RecordRoutes;

/**
 * Describes the operations that a caller may see (http §12.2): a guest those whose rule is null, a user those whose rule
 * admits more than admins, an admin all. A collection without visible operations is left out, and so is every mention of
 * it. A field whose rule never holds for the caller is left out of records, or of bodies (fields §5.7). Runs in slices
 * of time.
 */
export async function describeCollections(
  { collections, routes, version }: DescriptionInput,
  principal: Principal,
): Promise<ServiceDescription> {
  const findCollection = (name: string) => collections.find((collection) => collection.name === name);
  const closedTo = (right: FieldRight) => (collection: Collection) =>
    fieldAccess(right, collection, principal, { findCollection }).closed;
  const visible = collections
    .map((defined) => collectionFor(principal, defined))
    .map((collection) => ({
      collection,
      operations: operationsOf(collection, isAdmin(principal) ? 'admin' : principal.type),
    }))
    .filter(({ operations }) => operations.length > 0);
  const names = new Set(visible.map(({ collection }) => collection.name));
  const described: RouteManifest[] = [];
  const schemas: Record<string, JsonSchema> = {};
  for await (const { collection, operations } of inSlices(visible)) {
    const read = without(closedTo('view')(collection), withoutHiddenTargets(collection, names));
    const written = without(closedTo('write')(collection), withoutHiddenTargets(collection, names));
    described.push(...operations.map((operation) => ofCollection(routes[operation], operation, collection)));
    Object.assign(schemas, schemasOf({ read, written, operations }));
  }
  const tags = Object.fromEntries(visible.map(({ collection }) => [collection.name, aboutOf(collection)]));
  return { version, routes: described, schemas, tags };
}

/** Relations to a collection that the caller does not see have no target. */
const withoutHiddenTargets = (collection: Collection, shown: ReadonlySet<string>): Collection => ({
  ...collection,
  fields: collection.fields.map(({ collection: target, ...field }) =>
    target !== undefined && shown.has(target) ? { ...field, collection: target } : field,
  ),
});

/** The collection without fields of these names. */
const without = (names: ReadonlySet<string>, collection: Collection): Collection =>
  names.size === 0 ? collection : { ...collection, fields: collection.fields.filter(({ name }) => !names.has(name)) };

/** Whether a rule opens an operation to callers of a type; null is public, and '' is for admins. */
const opens: Readonly<Record<Principal['type'], (rule: Rule) => boolean>> = {
  guest: (rule) => rule === null,
  user: (rule) => rule !== '',
  service: (rule) => rule !== '',
  admin: () => true,
};

function operationsOf(collection: Collection, kind: Principal['type']): Operation[] {
  const { type, rules, historyEnabled } = collection;
  const isOpen = (rule: RuleName) => opens[kind](rules[rule]);
  const reading: Operation[] = [
    ...(isOpen('list') ? (['list', 'aggregate', 'export'] as const) : []),
    ...(isOpen('view') ? (['view'] as const) : []),
  ];
  if (type === 'view') return reading;
  const mayPut = isOpen('create') || isOpen('update');
  return [
    ...reading,
    ...(['create', 'update', 'delete'] as const).filter(isOpen),
    ...(mayPut ? (['put'] as const) : []),
    ...(mayPut && hasUniqueKey(collection) ? (['upsert'] as const) : []),
    ...(historyEnabled && isOpen('view') ? (['history'] as const) : []),
    ...(historyEnabled && kind === 'admin' ? (['restore'] as const) : []),
  ];
}

const aboutOf = ({ name, type }: Collection): string =>
  ({
    base: `Records of ${name}.`,
    auth: `Users of ${name}; they sign in at /api/v1/auth/${name}.`,
    view: `Rows of the view ${name}; they can only be read.`,
  })[type];

/** Names of components. Those of the API itself have no dot. */
const namesOf = ({ name }: Collection) => ({
  record: `${name}.record`,
  create: `${name}.create`,
  update: `${name}.update`,
});

const referTo = (schema: string): JsonSchema => ({ $ref: `#/components/schemas/${schema}` });

/** The operations that take operators, so their bodies have the schema of a change. */
const changing = new Set<Operation>(['update', 'put', 'upsert']);

/** Whether records can be found by values that are unique. */
const hasUniqueKey = ({ fields, indexes = [] }: Collection): boolean =>
  fields.some(isUnique) || indexes.some(({ unique }) => unique);

/** A collection as the caller reads and writes it. */
interface ShownCollection {
  readonly read: Collection;
  readonly written: Collection;
  readonly operations: readonly Operation[];
}

function schemasOf({ read, written, operations }: ShownCollection): Record<string, JsonSchema> {
  const names = namesOf(read);
  const showsRecords = operations.some(showsRecord);
  return {
    ...(showsRecords && { [names.record]: recordSchema(read) }),
    ...(operations.includes('create') && { [names.create]: newRecordSchema(written) }),
    ...(operations.some((operation) => changing.has(operation)) && { [names.update]: recordChangeSchema(written) }),
  };
}

/** Whether the answer has records of the collection. */
const showsRecord = (operation: Operation): boolean =>
  !['aggregate', 'delete', 'export', 'history'].includes(operation);

/** The route of any collection as a route of this collection. */
function ofCollection(route: RouteManifest, operation: Operation, collection: Collection): RouteManifest {
  const { record, create, update } = namesOf(collection);
  const body = operation === 'create' ? referTo(create) : changing.has(operation) ? referTo(update) : route.body;
  const answer = operation === 'list' ? inCursorPage(referTo(record)) : inEnvelope(referTo(record));
  const statuses = operation === 'create' ? [201] : operation === 'put' || operation === 'upsert' ? [200, 201] : [200];
  const shown = showsRecord(operation) ? statuses : [];
  return {
    ...route,
    operationId: `${operation}_${collection.name}`,
    tag: collection.name,
    paths: route.paths.map((path) => path.replace(':collection', collection.name)),
    ...(body && { body }),
    answers: {
      ...route.answers,
      ...Object.fromEntries(shown.map((status) => [status, { ...route.answers[status], schema: answer }])),
    },
  };
}
