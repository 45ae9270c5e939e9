import type { Collection } from '@recordbus/schema';
import type { Expression, Operand } from '../src/language/ast.ts';
import { membersOf, referrersOf } from './members.ts';
import type { Sight } from './sight.ts';
import type { World } from './world.ts';

/** The place in which names are looked up. */
interface Place {
  readonly collection: Collection;
  readonly collections: World['collections'];
  readonly sight: Sight;
  /** Within `exists`. */
  readonly outer?: Place;
}

/**
 * The refusal for the first name that these callers may not use (filters §7.3, §7.8); undefined without such a name.
 */
export function refusalOf(expression: Expression, place: Place): string | undefined {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return first(expression.items, (item) => refusalOf(item, place));
    case 'not':
      return refusalOf(expression.item, place);
    case 'quantified':
      return refusalOf(expression.test, place);
    case 'exists': {
      const { collection: name, condition } = expression;
      const collection = place.collections[name];
      if (!collection || !place.sight.seesRecords(collection)) return `there is no collection "${name}"`;
      return refusalOf(condition, { ...place, collection, outer: place });
    }
    case 'comparison':
      return first([expression.left, expression.right], (operand) => ofOperand(operand, place));
    case 'in': {
      const { left, among } = expression;
      return first([left, ...('kind' in among ? [among] : among)], (operand) => ofOperand(operand, place));
    }
  }
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofOperand(operand: Operand, place: Place): string | undefined {
  const path = operand.kind === 'count' || operand.kind === 'distance' ? operand.of : operand;
  return path.kind === 'path' ? ofPath(path.segments, place) : undefined;
}

function ofPath(segments: readonly string[], place: Place): string | undefined {
  if (place.outer && segments.length > 1 && segments[0] === 'record') return ofPath(segments.slice(1), place.outer);
  const { collections, sight } = place;
  let at = place.collection;
  for (const [index, name] of segments.entries()) {
    const owner = index === 0 ? at.name : segments.slice(0, index).join('.');
    const refusal = `${owner} has no field "${name}"`;
    if (index > 0 && !sight.seesRecords(at)) return refusal;
    const isMember = membersOf(at).has(name);
    const field = membersOf(at).get(name);
    const back = isMember ? undefined : referrersOf(at, collections).find((referrers) => referrers.name === name);
    if (field && !sight.seesField(at, field)) return refusal;
    if (back && !(sight.seesRecords(back.collection) && sight.seesField(back.collection, back.relation)))
      return refusal;
    const next = back?.collection ?? collections[field?.collection ?? ''];
    if (!next) return undefined;
    at = next;
  }
  return undefined;
}
