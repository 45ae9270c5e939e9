import { type Collection, newRecordSchema, type RuleName, recordChangeSchema, recordSchema } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { type Description, inEnvelope, inPage, type JsonSchema, type RouteManifest } from '@recordbus/shared/http';

/** The routes of records of any collection, by what they do. */
export type RecordRoutes = Readonly<Record<RuleName | 'history' | 'restore', RouteManifest>>;

interface Described {
  readonly collections: readonly Collection[];
  readonly routes: RecordRoutes;
  /** Of the collections. */
  readonly version: string;
}

type Operation = keyof RecordRoutes;

/**
 * The operations on the collections that a caller may see: those that a rule closes to all but admins are left out for
 * others, and with them a collection of which nothing is left.
 */
export function describeCollections({ collections, routes, version }: Described, principal: Principal): Description {
  const isAdmin = principal.type === 'admin';
  const shown = collections
    .map((collection) => ({ collection, operations: operationsOf(collection, isAdmin) }))
    .filter(({ operations }) => operations.length > 0);
  return {
    version: `${isAdmin ? 'admin' : 'others'} ${version}`,
    routes: shown.flatMap(({ collection, operations }) =>
      operations.map((operation) => ofCollection(routes[operation], operation, collection)),
    ),
    schemas: Object.assign({}, ...shown.map(({ collection, operations }) => schemasOf(collection, operations))),
    tags: Object.fromEntries(shown.map(({ collection }) => [collection.name, aboutOf(collection)])),
  };
}

function operationsOf({ type, rules, historyEnabled }: Collection, isAdmin: boolean): Operation[] {
  const isOpen = (rule: RuleName) => isAdmin || rules[rule] !== '';
  const reading = (['list', 'view'] as const).filter(isOpen);
  if (type === 'view') return reading;
  return [
    ...reading,
    ...(['create', 'update', 'delete'] as const).filter(isOpen),
    ...(historyEnabled && isOpen('view') ? (['history'] as const) : []),
    ...(historyEnabled && isAdmin ? (['restore'] as const) : []),
  ];
}

const aboutOf = ({ name, type }: Collection): string =>
  ({
    base: `Records of ${name}.`,
    auth: `Users of ${name}; they sign in at /api/v1/auth/${name}.`,
    view: `Rows of the view ${name}; they can only be read.`,
  })[type];

/** No component of the API itself has a point in its name. */
const namesOf = ({ name }: Collection) => ({
  record: `${name}.record`,
  create: `${name}.create`,
  update: `${name}.update`,
});

const referTo = (schema: string): JsonSchema => ({ $ref: `#/components/schemas/${schema}` });

function schemasOf(collection: Collection, operations: readonly Operation[]): Record<string, JsonSchema> {
  const names = namesOf(collection);
  const showsRecords = operations.some((operation) => operation !== 'delete' && operation !== 'history');
  return {
    ...(showsRecords && { [names.record]: recordSchema(collection) }),
    ...(operations.includes('create') && { [names.create]: newRecordSchema(collection) }),
    ...(operations.includes('update') && { [names.update]: recordChangeSchema(collection) }),
  };
}

/** The route of any collection as one of this collection. */
function ofCollection(route: RouteManifest, operation: Operation, collection: Collection): RouteManifest {
  const { record, create, update } = namesOf(collection);
  const body = operation === 'create' ? referTo(create) : operation === 'update' ? referTo(update) : route.body;
  const answer = operation === 'list' ? inPage(referTo(record)) : inEnvelope(referTo(record));
  const status = operation === 'create' ? 201 : 200;
  const showsRecord = operation !== 'delete' && operation !== 'history';
  return {
    ...route,
    operationId: `${operation}_${collection.name}`,
    tag: collection.name,
    paths: route.paths.map((path) => path.replace(':collection', collection.name)),
    ...(body && { body }),
    answers: {
      ...route.answers,
      ...(showsRecord && { [status]: { ...route.answers[status], schema: answer } }),
    },
  };
}
