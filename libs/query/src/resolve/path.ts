import type { Collection, ValueKind } from '@recordbus/schema';
import { changedNames } from '../language/ast.ts';
import { limits } from '../limits.ts';
import { QueryError, UnknownName } from '../query-error.ts';
import { tableOfLinks } from './back-relation.ts';
import { visibilityOf } from './field-access.ts';
import { guardOf, isNamed } from './guard.ts';
import { isHidden, type Member, membersOf } from './member.ts';
import { type Column, type Hop, type Link, passesSeveral, type Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';
import { findVisibleReferrers } from './visible-referrers.ts';

/** The segment that leads out of `exists`. */
export const outerRecord = 'record';

/**
 * Resolves a dotted path: relations to follow, a column, keys into its JSON value. `position` is the first segment's.
 * Throws QueryError for an unknown or hidden name, and for more than six relations.
 */
export function findColumn(segments: readonly string[], position: number, scope: Scope): Column {
  if (segments[0] === changedNames && scope.outer) {
    const column = findColumn(segments, position, scope.outer);
    return { ...column, up: column.up + 1 };
  }
  const root = segments.length > 1 ? findRoot(segments[0] ?? '', scope) : undefined;
  if (root) {
    const column = findColumn(segments.slice(1), position + (segments[0]?.length ?? 0) + 1, root.scope);
    return { ...column, up: column.up + root.up };
  }
  const hops: Hop[] = [];
  let { collection } = scope;
  let at = position;
  for (const [index, segment] of segments.entries()) {
    // Errors name a related collection by the path, since the caller may not know its name.
    const place = index === 0 ? collection.name : segments.slice(0, index).join('.');
    // A client learns nothing about a collection whose records only admins see, not even names.
    if (hops.length > 0 && !isNamed(collection, scope)) throw unknownField(place, segment, at);
    const rest = segments.slice(index + 1);
    const step = findStep(segment, at, { collection, place }, scope);
    if (!step.hop || (rest.length === 0 && step.member))
      return { ...endOf(step, rest, { hops, collection, place, at }), relation: step.hop };
    if (hops.length === limits.hops) throw new QueryError(`a path follows at most ${limits.hops} relations`, at);
    const hop = { ...step.hop, guard: guardOf(step.hop.target, scope) };
    // A foreign key guarantees that the target exists. Views have none.
    const isId = rest.length === 1 && rest[0] === 'id' && !hop.guard && collection.type !== 'view';
    if (isId && step.member && isNamed(hop.target, scope)) {
      if (hop.link.via === 'list') return linkedIds([...hops, hop]);
      // If one of several records has an empty relation, it gives no value, not null (filters §5.8).
      if (!passesSeveral({ up: 0, hops })) return columnOf(hops, step, step.member, [], collection);
    }
    hops.push(hop);
    if (rest.length === 0) return idOf(hops);
    collection = hop.target;
    at += segment.length + 1;
  }
  throw new QueryError('a path has no segments', position);
}

/** Where a path's first segment leads to another row: out of `exists`, or to a row that the expression names. */
function findRoot(segment: string, { outer, roots }: Scope): { scope: Scope; up: number } | undefined {
  if (!outer || segment !== outerRecord) return roots?.get(segment);
  const record = outer.roots?.get(outerRecord);
  return record ? { scope: record.scope, up: record.up + 1 } : { scope: outer, up: 1 };
}

/** A segment's target: a member, with a relation's hop. A back-relation is only a hop. */
interface Step {
  readonly segment: string;
  readonly member?: Member;
  readonly hop?: Omit<Hop, 'guard'>;
  /** The condition under which the member is visible. */
  readonly visibleIf?: Resolved | undefined;
}

interface Owner {
  readonly collection: Collection;
  /** Its name in errors. */
  readonly place: string;
}

/** Finds a segment's target. Throws QueryError for an unknown or hidden name. */
function findStep(segment: string, position: number, { collection, place }: Owner, scope: Scope): Step {
  const { schema } = scope;
  const member = membersOf(collection).get(segment);
  if (!member) {
    const back = findVisibleReferrers(segment, collection, scope);
    if (!back) throw unknownField(place, segment, position);
    return { segment, hop: { link: back.link, target: back.collection, visibleIf: back.visibleIf } };
  }
  const visible = member.field ? visibilityOf(member.field, collection, scope) : 'open';
  if (visible === 'closed') throw unknownField(place, segment, position);
  const visibleIf = visible === 'open' ? undefined : visible;
  if (member.field && (schema.isHidden ?? isHidden)(member.field))
    throw new QueryError(`the field "${segment}" in ${place} cannot be compared or sorted by`, position);
  const target = member.field?.collection === undefined ? undefined : schema.findCollection(member.field.collection);
  return {
    segment,
    member,
    visibleIf,
    ...(target && { hop: { link: linkOf(collection, member), target, visibleIf } }),
  };
}

/** A relation's link. */
function linkOf(collection: Collection, { column, kind, field }: Member): Link {
  if (kind !== 'list' || !field) return { via: 'relation', column };
  return { via: 'list', column, table: tableOfLinks(collection, field) };
}

interface End extends Owner {
  readonly hops: readonly Hop[];
  readonly at: number;
}

/** The column at a path's end, with the keys that lead into its JSON value. */
function endOf(step: Step, keys: readonly string[], { hops, collection, place, at }: End): Column {
  const { segment, member } = step;
  if (!member) throw unknownField(place, segment, at);
  if (keys.length > 0 && member.kind !== 'json')
    throw new UnknownName(`"${segment}" in ${place} is not a relation`, at);
  return columnOf(hops, step, member, keys, collection);
}

const columnOf = (
  hops: readonly Hop[],
  { visibleIf }: Pick<Step, 'visibleIf'>,
  { column, kind, field }: Member,
  keys: readonly string[],
  collection: Collection,
): Column => ({
  ...plainColumn(hops, column, kind),
  keys,
  isPoint: field?.type === 'geoPoint' && keys.length === 0,
  ...(visibleIf && { visibleIf }),
  isSearchable:
    field !== undefined &&
    !visibleIf &&
    collection.indexes?.some((it) => it.type === 'trigram' && it.columns.includes(field.id)) === true,
});

/** A column without field properties. */
export const plainColumn = (hops: readonly Hop[], column: string, kind: ValueKind): Column => ({
  source: 'column',
  up: 0,
  hops,
  column,
  kind,
  keys: [],
  isPoint: false,
  isSearchable: false,
});

/** The record ids at a path's end. */
const idOf = (hops: readonly Hop[]): Column => plainColumn(hops, 'id', 'text');

/** The ids that a list relation links to, without reading their records. */
const linkedIds = (hops: readonly Hop[]): Column => plainColumn(hops, linkedId, 'text');

/** The link column that has the target's id. */
export const linkedId = 'target';

const unknownField = (place: string, name: string, position: number) =>
  new UnknownName(`${place} has no field "${name}"`, position);
