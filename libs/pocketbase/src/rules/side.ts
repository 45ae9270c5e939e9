import { type CallerValue, findCallerValue } from './caller-value.ts';
import type { Directory, PocketBaseCollection, PocketBaseField } from './definitions.ts';
import { type Literal, readLiteral } from './literal.ts';
import { findPath, isMultiple, type Kind, kindOf, type Path } from './path.ts';
import type { Near } from './single.ts';
import type { Operand } from './tree.ts';
import { MissingName, Untranslatable } from './untranslatable.ts';

/** A collection's slots that hold rules, and `filter` for a client's. */
export type Slot = 'list' | 'view' | 'create' | 'update' | 'delete' | 'manage' | 'auth' | 'field' | 'filter';

/** Where an expression is. */
export interface Scope {
  readonly collection: PocketBaseCollection;
  readonly directory: Directory;
  readonly slot: Slot;
  readonly near: Near;
}

/** A value in the request: in its body, its query, its headers, or its method. */
export interface RequestValue {
  readonly text: string;
  readonly part: 'body' | 'query' | 'headers' | 'method';
  readonly kind: Kind;
  readonly field: PocketBaseField | undefined;
  readonly modifier: 'lower' | 'isset' | 'changed' | 'each' | 'length' | undefined;
}

/** A path that begins at joined records. */
export interface Joined {
  readonly kind: 'joined';
  /** Paths with the same join are about the same record. */
  readonly join: string;
  readonly collection: PocketBaseCollection;
  readonly rest: readonly string[];
  /** The test that joins a record; undefined if all are joined. */
  readonly link: string | undefined;
  /** Whether at most one record is joined. */
  readonly isSingle: boolean;
}

/** The distance between a field and a point. */
export interface Distance {
  readonly kind: 'distance';
  readonly text: string;
  readonly field: string;
  /** How far the point is from 0, 0: PocketBase stores that for an empty field. */
  readonly km: number;
}

export type Side =
  | { readonly kind: 'literal'; readonly literal: Literal }
  | { readonly kind: 'own'; readonly path: Path }
  | Joined
  | { readonly kind: 'caller'; readonly value: CallerValue }
  | { readonly kind: 'callersCollection'; readonly member: 'id' | 'name' }
  | { readonly kind: 'request'; readonly value: RequestValue }
  | Distance;

/** Finds what an operand names. Throws Untranslatable for what cannot be named here. */
export function findSide(operand: Operand, scope: Scope): Side {
  const { collection } = scope;
  const literal = readLiteral(operand, (name) => collection.fields.some((field) => field.name === name));
  if (literal) return { kind: 'literal', literal };
  if (operand.kind === 'call') return findDistance(operand, scope);
  if (operand.kind !== 'name') throw new Untranslatable('a value');
  const segments = operand.name.split('.');
  const [first = '', second = ''] = segments;
  if (first === '@collection') return findJoined(operand.name, segments, scope);
  if (first === '@request') return findRequest(second, segments, scope);
  if (first.startsWith('@') || first.startsWith('#')) throw new Untranslatable(operand.name);
  if (scope.slot === 'create' && first.includes('_via_') && !collection.fields.some(({ name }) => name === first))
    throw new Untranslatable('a back-relation in a create rule: PocketBase refuses every create');
  return { kind: 'own', path: findPath(segments, collection, scope.directory) };
}

function findJoined(name: string, [, second = '', ...rest]: readonly string[], { directory, slot }: Scope): Side {
  if (slot === 'filter') throw new Untranslatable(`${name}, which is for rules`);
  const [collectionName = '', alias] = second.split(':');
  const collection = directory.find(collectionName);
  if (!collection || rest.length === 0) throw new MissingName(`there is no collection "${collectionName}"`);
  const join = `@collection.${alias === undefined ? collection.name : `:${alias}`}`;
  return { kind: 'joined', join, collection, rest, link: undefined, isSingle: false };
}

function findRequest(part: string, segments: readonly string[], scope: Scope): Side {
  const name = segments.join('.');
  if (scope.slot === 'filter') throw new Untranslatable(`${name}, which is for rules`);
  if (scope.slot === 'auth') throw new Untranslatable(`${name} in a rule about signing in`);
  const [, , member = '', ...more] = segments;
  switch (part) {
    case 'auth':
      if (segments.length === 3 && member === 'collectionName') return { kind: 'callersCollection', member: 'name' };
      if (segments.length === 3 && member === 'collectionId') return { kind: 'callersCollection', member: 'id' };
      return { kind: 'caller', value: findCallerValue(segments.slice(2), scope.directory) };
    case 'method':
      if (segments.length > 2) break;
      return { kind: 'request', value: { text: name, part, kind: 'text', field: undefined, modifier: undefined } };
    case 'query':
    case 'headers': {
      const [key = '', modifier] = member.split(':');
      if (more.length > 0 || key === '' || (part === 'headers' && !/^[a-z0-9_]+$/.test(key))) break;
      if (modifier !== undefined && modifier !== 'isset') throw new Untranslatable(`:${modifier} of ${name}`);
      return {
        kind: 'request',
        value: { text: `@request.${part}.${key}`, part, kind: 'text', field: undefined, modifier },
      };
    }
    case 'body':
    case 'data':
      return more.length > 0 ? findBodyPath(member, more, scope) : { kind: 'request', value: findBody(member, scope) };
  }
  throw new Untranslatable(name);
}

const bodyModifiers = ['lower', 'isset', 'changed', 'each', 'length'] as const;

function findBody(member: string, { collection, directory, slot }: Scope): RequestValue {
  if (slot !== 'create' && slot !== 'update' && slot !== 'manage')
    throw new Untranslatable('@request.body where no body is read');
  const [name = '', given, ...more] = member.split(':');
  const modifier = bodyModifiers.find((known) => known === given);
  const field = collection.fields.find((candidate) => candidate.name === name);
  if (!field) throw new MissingName(`@request.body.${name}, which is not a field of ${collection.name}`);
  if (more.length > 0 || (given !== undefined && !modifier)) throw new Untranslatable(`the modifier :${given}`);
  if (field.hidden && field.type !== 'password')
    throw new Untranslatable(`@request.body.${name}: PocketBase drops hidden fields from the body`);
  const text = `@request.body.${directory.fieldNameOf(collection, name)}`;
  const kind = field.type === 'password' ? 'text' : kindOf(field);
  return { text, part: 'body', kind, field, modifier };
}

/** A path over a relation in the body. A create checks the record as it would be stored, which has the relation. */
function findBodyPath(name: string, rest: readonly string[], scope: Scope): Side {
  const { field, text } = findBody(name, scope);
  const target = field?.type === 'relation' ? scope.directory.find(field.collectionId ?? '') : undefined;
  if (!field || !target || isMultiple(field)) throw new Untranslatable(`a path into @request.body.${name}`);
  if (scope.slot === 'create')
    return { kind: 'own', path: findPath([name, ...rest], scope.collection, scope.directory) };
  return { kind: 'joined', join: text, collection: target, rest, link: `id = ${text}`, isSingle: true };
}

/** `geoDistance(place.lon, place.lat, 16.37, 48.2)`. PocketBase takes an empty point for 0, 0. */
function findDistance({ name, arguments: given }: Extract<Operand, { kind: 'call' }>, scope: Scope): Side {
  const [lonOf, latOf, lon, lat] = given;
  if (name !== 'geoDistance') throw new Untranslatable(`${name}(…)`);
  if (lonOf?.kind === 'number' && latOf?.kind === 'number' && lon?.kind === 'name' && lat?.kind === 'name')
    return findDistance({ kind: 'call', name, arguments: [lon, lat, lonOf, latOf], position: 0 }, scope);
  const field = lonOf?.kind === 'name' ? lonOf.name.slice(0, -'.lon'.length) : '';
  const isPoint = scope.collection.fields.some((known) => known.name === field && known.type === 'geoPoint');
  const isOwn =
    lonOf?.kind === 'name' && lonOf.name === `${field}.lon` && latOf?.kind === 'name' && latOf.name === `${field}.lat`;
  if (!isPoint || !isOwn || lon?.kind !== 'number' || lat?.kind !== 'number')
    throw new Untranslatable('a distance other than between a field and a point');
  const text = scope.directory.fieldNameOf(scope.collection, field);
  return {
    kind: 'distance',
    text: `distance(${text}, ${lat.value}, ${lon.value})`,
    field: text,
    km: kmFromZero(lat.value, lon.value),
  };
}

function kmFromZero(lat: number, lon: number): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  return 6371 * Math.acos(Math.min(1, Math.max(-1, Math.cos(radians(lat)) * Math.cos(radians(lon)))));
}
