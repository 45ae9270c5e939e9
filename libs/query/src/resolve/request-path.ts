import type { ValueKind } from '@recordbus/schema';
import { type RequestPath, requestPrefix } from '../language/ast.ts';
import { QueryError } from '../query-error.ts';
import { isHidden, membersOf } from './member.ts';
import type { Pending, Side } from './one-kind.ts';
import type { RequestPart } from './resolved.ts';
import { outermost, type Scope } from './scope.ts';

/** The values about every caller and its session, with their kinds (rules §4.1). */
export const authValues: Readonly<Record<string, 'text' | 'bool' | 'list' | 'date'>> = {
  id: 'text',
  email: 'text',
  type: 'text',
  collection: 'text',
  verified: 'bool',
  factors: 'list',
  signed_in_at: 'date',
};

/**
 * The members that bodies may have in addition to the fields: members that a record read has, and account credentials.
 */
const bodyKeys: readonly string[] = ['id', 'created', 'updated', 'password', 'old_password'];

type RequestSide = Omit<Extract<Side, { type: 'known' }>, 'position'> | Omit<Pending, 'position'>;

/**
 * Resolves an `@request.` path. Throws QueryError in a filter or sort (filters §4.3), and for a value that no request
 * has: a body has only what the collection takes (rules §6.1).
 */
export function findRequestSource(operand: RequestPath, scope: Scope): RequestSide {
  const { segments, modifier, position } = operand;
  const text = requestPrefix + segments.join('.');
  if (scope.audience !== 'rule') throw new QueryError(`${text} is for rules`, position);
  const { part, path, kind } = findPart(operand, text, scope);
  const isFixed = part === 'auth' || part === 'method';
  if (modifier === 'isset' && !isFixed) return { type: 'known', source: { source: 'isset', part, path }, kind: 'bool' };
  if (modifier === 'changed' && part === 'body') return findChanged(operand, text, scope);
  if (modifier !== undefined && modifier !== 'lower') throw new QueryError(`${text} has no :${modifier}`, position);
  const isLowered = modifier === 'lower';
  if (isFixed || isLowered) {
    const as = isFixed && path[0] !== undefined ? (authValues[path[0]] ?? 'text') : 'text';
    if (isLowered && as !== 'text') throw new QueryError(':lower is for text', position);
    return { type: 'known', source: { source: 'request', part, path, kind: as, isLowered }, kind: as };
  }
  return { type: 'pending', part, path, kind };
}

interface Found {
  readonly part: RequestPart;
  readonly path: readonly string[];
  /** The value's kind, when the other side has none. */
  readonly kind?: ValueKind | undefined;
}

function findPart({ segments, position }: RequestPath, text: string, scope: Scope): Found {
  const [part, ...path] = segments;
  const [name = '', ...keys] = path;
  switch (part) {
    case 'method':
      if (path.length === 0) return { part, path };
      break;
    case 'auth':
      if (path.length === 1 && Object.hasOwn(authValues, name)) return { part, path, kind: authValues[name] };
      break;
    case 'query':
      if (path.length === 1) return { part, path };
      break;
    case 'headers':
      if (path.length === 1 && /^[a-z0-9_]+$/.test(name)) return { part, path };
      break;
    case 'body': {
      const { collection } = outermost(scope);
      const member = membersOf(collection).get(name);
      if (!member?.field && !bodyKeys.includes(name) && !(member && collection.type === 'auth')) break;
      if (keys.length === 0) return { part, path, kind: member?.kind };
      if (member?.kind === 'json') return { part, path };
      break;
    }
  }
  throw new QueryError(`there is no ${text}`, position);
}

function findChanged({ segments, position }: RequestPath, text: string, scope: Scope): RequestSide {
  const { collection, schema } = outermost(scope);
  const field = membersOf(collection).get(segments[1] ?? '')?.field;
  if (segments.length !== 2 || !field || (schema.isHidden ?? isHidden)(field))
    throw new QueryError(`${text} has no :changed`, position);
  return { type: 'known', source: { source: 'changed', field }, kind: 'bool' };
}
