import { isObject } from '@recordbus/text/json';
import { operationRefused } from './batch-refusal.ts';
import type { ParsedOperation } from './parse-operations.ts';
import { isReference, type Reference, readReference } from './reference.ts';

type Body = Readonly<Record<string, unknown>>;

/** What an operation does. The compiler names each place that has to know a new verb. */
export const operationVerbs = ['create', 'update', 'upsert', 'delete'] as const;
export type OperationVerb = (typeof operationVerbs)[number];

/** An operation as the client sent it, with a valid shape (batch §2). */
export interface Operation {
  readonly op: OperationVerb;
  readonly collection: string;
  readonly id: string | Reference | undefined;
  /** The fields by which an upsert finds its record, separated by commas. */
  readonly on: string | undefined;
  readonly data: Body;
  readonly ifMatch: string | undefined;
  /** The name by which later operations refer to the result. */
  readonly as: string | undefined;
  /** Size of its JSON text. */
  readonly bytes: number;
}

const members = new Set(['op', 'collection', 'id', 'on', 'data', 'if_match', 'as']);

/** The members that each operation may have in addition to `op`, `collection` and `as`. */
const membersOf: Readonly<Record<OperationVerb, ReadonlySet<string>>> = {
  create: new Set(['id', 'data']),
  update: new Set(['id', 'data', 'if_match']),
  upsert: new Set(['id', 'on', 'data', 'if_match']),
  delete: new Set(['id', 'if_match']),
};
const ofEach = new Set(['op', 'collection', 'as']);

const maxMembers = 10_000;
const maxNameLength = 63;
const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads a batch's operations. Throws 422 with the index of the first one that has no valid shape. */
export function readOperations(parsed: readonly ParsedOperation[]): readonly Operation[] {
  const names = new Set<string>();
  return parsed.map(({ value, bytes }, index) => {
    const operation = { ...readOperation(index, value), bytes };
    const { as } = operation;
    if (as !== undefined && names.has(as)) throw operationRefused(index, { as: "is an earlier operation's name" });
    if (as !== undefined) names.add(as);
    return operation;
  });
}

function readOperation(index: number, value: unknown): Omit<Operation, 'bytes'> {
  if (!isObject(value)) throw operationRefused(index, { operation: 'must be an object' });
  const { op, collection, id, on, data = {}, if_match: ifMatch, as } = value;
  const verb = operationVerbs.find((known) => known === op);
  if (!verb) throw operationRefused(index, { op: `must be one of ${operationVerbs.join(', ')}` });
  const problems = new Map<string, string>();
  for (const name of Object.keys(value)) {
    if (!members.has(name)) problems.set(name, 'is not an operation member');
    else if (!ofEach.has(name) && !membersOf[verb].has(name)) problems.set(name, `is not a ${verb} member`);
  }
  const need = (name: string, isValid: boolean, message: string) => {
    if (!isValid && !problems.has(name)) problems.set(name, message);
  };
  const isPlace = typeof id === 'string' || isReference(id);
  need('collection', typeof collection === 'string', 'must be a collection name');
  need('id', id === undefined || isPlace, 'must be a text or a reference');
  if (verb === 'update' || verb === 'delete') need('id', isPlace, 'is required');
  if (verb === 'upsert') need('on', (id === undefined) !== (on === undefined), 'or id is required, and not both');
  need('on', on === undefined || isText(on) || (Array.isArray(on) && on.every(isText)), 'must name fields');
  need('data', isObject(data), 'must be an object');
  // As in a single write's body (http §2.1).
  need('data', !isObject(data) || !Object.hasOwn(data, '__proto__'), 'must not have the member __proto__');
  need('data', !isObject(data) || Object.keys(data).length <= maxMembers, `must have at most ${maxMembers} members`);
  need('if_match', ifMatch === undefined || isText(ifMatch), "must be a version's ETag, or *");
  need(
    'as',
    as === undefined || isName(as),
    `must be a name of up to ${maxNameLength} letters, digits and underscores`,
  );
  if (problems.size > 0) throw operationRefused(index, Object.fromEntries(problems));
  return {
    op: verb,
    collection: String(collection),
    id: isReference(id) ? readReference(id) : (id as string | undefined),
    on: on === undefined ? undefined : [on].flat().join(),
    data: data as Body,
    ifMatch: ifMatch as string | undefined,
    as: as as string | undefined,
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isName = (value: unknown): boolean => isText(value) && value.length <= maxNameLength && namePattern.test(value);
