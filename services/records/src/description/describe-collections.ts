import type { JsonSchema, RouteManifest, ServiceDescription } from '@recordbus/http';
import { inSlices } from '@recordbus/limits/time-slice';
import { type FieldRight, fieldAccess } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import { type Collection, isUnique, type Rule, type RuleName } from '@recordbus/schema';
import { collectionFor } from '../rules/key-collections.ts';
import { describeExpansions } from './describe-expansions.ts';
import { describeOperation, schemasOf } from './describe-operation.ts';
import type { RecordOperation, RecordRoutes, ShownCollection } from './shown-collection.ts';

interface DescriptionInput {
  readonly collections: readonly Collection[];
  readonly routes: RecordRoutes;
  /** The collections' version for this kind of caller. */
  readonly version: string;
}

/**
 * Describes the operations that a caller may see (http §12.2): a guest sees those whose rule is null, a user those
 * whose rule admits more than admins, an admin all. A collection without visible operations is left out, with
 * everything that mentions it. A field whose rule never holds for the caller is left out of records, or of bodies
 * (fields §5.7). Runs in time slices.
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
  const needsPassword = !isAdmin(principal);
  const shown: ShownCollection[] = [];
  for await (const { collection, operations } of inSlices(visible)) {
    const known = withoutHiddenTargets(collection, names);
    const read = without(closedTo('view')(collection), known);
    shown.push({ read, written: without(closedTo('write')(collection), known), operations, needsPassword });
  }
  const expansionsOf = describeExpansions(
    shown.filter(({ operations }) => operations.includes('view')).map(({ read }) => read),
  );
  const described: RouteManifest[] = [];
  const schemas: Record<string, JsonSchema> = {};
  for await (const one of inSlices(shown)) {
    const expansions = expansionsOf(one.read);
    described.push(
      ...one.operations.map((name) => describeOperation(routes[name], name, one, Object.keys(expansions))),
    );
    Object.assign(schemas, schemasOf(one, expansions));
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

/** The collection without the fields with these names. */
const without = (names: ReadonlySet<string>, collection: Collection): Collection =>
  names.size === 0 ? collection : { ...collection, fields: collection.fields.filter(({ name }) => !names.has(name)) };

/** Whether a rule opens an operation to callers with a type; null is public, and '' is for admins. */
const opens: Readonly<Record<Principal['type'], (rule: Rule) => boolean>> = {
  guest: (rule) => rule === null,
  user: (rule) => rule !== '',
  service: (rule) => rule !== '',
  admin: () => true,
};

function operationsOf(collection: Collection, kind: Principal['type']): RecordOperation[] {
  const { type, rules, historyEnabled } = collection;
  const isOpen = (rule: RuleName) => opens[kind](rules[rule]);
  const reading: RecordOperation[] = [
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
    base: `Records in ${name}.`,
    auth: `Users in ${name}; they sign in at /api/v1/auth/${name}.`,
    view: `Rows in the view ${name}; they can only be read.`,
  })[type];

/** Whether records can be found by values that are unique. */
const hasUniqueKey = ({ fields, indexes = [] }: Collection): boolean =>
  fields.some(isUnique) || indexes.some(({ unique }) => unique);
