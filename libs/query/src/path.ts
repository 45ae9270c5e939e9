import type { Collection } from '@recordbus/schema';
import { guardOf } from './guard.ts';
import { limits } from './limits.ts';
import { isHidden, type Member, membersOf } from './member.ts';
import { QueryError } from './query-error.ts';
import type { Column, Hop } from './resolved.ts';
import type { Scope } from './scope.ts';

/**
 * Resolves a dotted path: relations to follow, a column, keys into its JSON value. `position` is that of its first
 * segment. Throws QueryError for an unknown or hidden name, and for more than six relations.
 */
export function findColumn(segments: readonly string[], position: number, scope: Scope): Column {
  const hops: Hop[] = [];
  let { collection } = scope;
  let at = position;
  for (const [index, segment] of segments.entries()) {
    // Errors call a related collection by the path, since the caller may not know its name.
    const place = index === 0 ? collection.name : segments.slice(0, index).join('.');
    const member = getMember(segment, at, { collection, place }, scope);
    const rest = segments.slice(index + 1);
    if (rest.length === 0) return column(hops, member, [], collection);
    if (member.kind === 'json') return column(hops, member, rest, collection);
    const target = findTarget(member, scope);
    if (!target) throw new QueryError(`"${segment}" of ${place} is not a relation`, at);
    if (hops.length === limits.hops) throw new QueryError(`a path follows at most ${limits.hops} relations`, at);
    const guard = guardOf(target, scope);
    // A foreign key guarantees that the target exists. Views have none.
    if (rest.length === 1 && rest[0] === 'id' && !guard && collection.type !== 'view')
      return column(hops, member, [], collection);
    hops.push({ column: member.column, target, guard });
    collection = target;
    at += segment.length + 1;
  }
  throw new QueryError('a path has no segments', position);
}

const column = (
  hops: readonly Hop[],
  { column, kind, field }: Member,
  keys: readonly string[],
  { indexes }: Collection,
): Column => ({
  source: 'column',
  hops,
  column,
  kind,
  keys,
  isLowered: false,
  isSearchable:
    field !== undefined && indexes?.some((it) => it.type === 'trigram' && it.columns.includes(field.id)) === true,
});

interface Owner {
  readonly collection: Collection;
  /** Its name in errors. */
  readonly place: string;
}

/** Returns the member of a collection by its name. Throws QueryError for an unknown or hidden one. */
function getMember(name: string, position: number, { collection, place }: Owner, { schema }: Scope): Member {
  const member = membersOf(collection).get(name);
  if (!member) throw new QueryError(`${place} has no field "${name}"`, position);
  if (member.field && (schema.isHidden ?? isHidden)(member.field))
    throw new QueryError(`the field "${name}" of ${place} cannot be compared or sorted by`, position);
  return member;
}

const findTarget = ({ field }: Member, { schema }: Scope): Collection | undefined =>
  field?.collection === undefined ? undefined : schema.findCollection(field.collection);
