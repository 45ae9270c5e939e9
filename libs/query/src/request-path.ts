import { type RequestPath, requestPrefix } from './ast.ts';
import type { Kind } from './kind.ts';
import { isSealed, membersOf } from './member.ts';
import type { Pending, Side } from './one-kind.ts';
import { QueryError } from './query-error.ts';
import type { RequestPart } from './resolved.ts';
import type { Scope } from './scope.ts';

const authValues: readonly string[] = ['id', 'email', 'type'];

/** What bodies may hold beside the fields: members of a record that was read, and the credentials of auth records. */
const bodyKeys: readonly string[] = ['id', 'created', 'updated', 'password', 'old_password'];

type RequestSide = Omit<Extract<Side, { type: 'known' }>, 'position'> | Omit<Pending, 'position'>;

/**
 * Finds what an `@request.` path means. Throws QueryError in a filter or sort, which know no request (contract §8),
 * and for anything that no request has: a body only holds what the collection takes.
 */
export function findRequestSource(operand: RequestPath, scope: Scope): RequestSide {
  const { segments, modifier, position } = operand;
  const text = requestPrefix + segments.join('.');
  if (scope.writtenBy !== 'rule') throw new QueryError(`${text} is for rules`, position);
  const { part, path, kind } = findPart(operand, text, scope);
  const isFixed = part === 'auth' || part === 'method';
  if (modifier === 'isset' && !isFixed) return { type: 'known', source: { source: 'isset', part, path }, kind: 'bool' };
  if (modifier === 'changed' && part === 'body') return findChanged(operand, text, scope);
  if (modifier !== undefined && modifier !== 'lower') throw new QueryError(`${text} has no :${modifier}`, position);
  const isLowered = modifier === 'lower';
  if (isFixed || isLowered)
    return { type: 'known', source: { source: 'request', part, path, kind: 'text', isLowered }, kind: 'text' };
  return { type: 'pending', part, path, kind };
}

interface Found {
  readonly part: RequestPart;
  readonly path: readonly string[];
  /** What the value is when nothing else says so. */
  readonly kind?: Kind | undefined;
}

function findPart({ segments, position }: RequestPath, text: string, scope: Scope): Found {
  const [part, ...path] = segments;
  const [name = '', ...keys] = path;
  switch (part) {
    case 'method':
      if (path.length === 0) return { part, path };
      break;
    case 'auth':
      if (path.length === 1 && authValues.includes(name)) return { part, path };
      break;
    case 'query':
      if (path.length === 1) return { part, path };
      break;
    case 'headers':
      if (path.length === 1 && /^[a-z0-9_]+$/.test(name)) return { part, path };
      break;
    case 'body': {
      const member = membersOf(scope.collection).get(name);
      if (!member?.field && !bodyKeys.includes(name) && !(member && scope.collection.type === 'auth')) break;
      if (keys.length === 0) return { part, path, kind: member?.kind };
      if (member?.kind === 'json') return { part, path };
      break;
    }
  }
  throw new QueryError(`there is no ${text}`, position);
}

function findChanged({ segments, position }: RequestPath, text: string, { collection, schema }: Scope): RequestSide {
  const field = membersOf(collection).get(segments[1] ?? '')?.field;
  if (segments.length !== 2 || !field || (schema.isHidden ?? isSealed)(field))
    throw new QueryError(`${text} has no :changed`, position);
  return { type: 'known', source: { source: 'changed', field }, kind: 'bool' };
}
