import type { Collection, Field } from '@recordbus/schema';
import { changedNames, type Operand, ownerPrefix, requestPrefix } from '../language/ast.ts';
import { existsIn, operandsIn, type PlacedOperand, type PlacedTest, sidesOf, testsIn } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { findBackRelation, via } from '../resolve/back-relation.ts';
import { callerPrefix, isCallerPath } from '../resolve/caller-path.ts';
import { previousRecord } from '../resolve/event-scope.ts';
import { membersOf } from '../resolve/member.ts';
import { outerRecord } from '../resolve/path.ts';
import type { Scope } from '../resolve/scope.ts';

/** A collection or field that an expression names, and where the name is in the text. */
export interface Reference {
  readonly to: Collection | Field;
  /** The collection itself, or the field's. */
  readonly collection: Collection;
  readonly position: number;
}

/** Where an expression is, and the collections with accounts. */
export interface Origin extends Pick<Scope, 'collection' | 'schema'> {
  readonly accounts: readonly Collection[];
  /** The collections whose records may own webhooks; none by default. */
  readonly owners?: readonly Collection[];
  /** Whether the expression is a webhook's filter, whose events are the collection's (webhooks §1.7). */
  readonly isEventFilter?: boolean;
}

/**
 * Finds the collections and fields that a rule names anywhere. Names in `@request.body` are included, since a rule that
 * guards such a field would guard nothing after a rename. A caller path is included for every account collection that
 * has it. Unknown names are omitted. Throws QueryError for a text that does not parse.
 */
export function findReferences(text: string, origin: Origin): Reference[] {
  const expression = parse(text, { hasChanged: origin.isEventFilter === true });
  return [
    ...operandsIn(expression).flatMap((placed) => referencesOf(placed, origin)),
    ...existsIn(expression).flatMap(({ collection, position }) => ofName(collection, position, origin)),
    ...testsIn(expression).flatMap((test) => [...ofComparedNames(test, origin), ...ofChangedName(test, origin)]),
  ];
}

/**
 * Renames fields and collections in an expression's text, all at once, so two may swap names. A name with several
 * meanings is kept, unless all get the same new name. Throws QueryError for a text that does not parse.
 */
export function renameInExpression(
  text: string,
  origin: Origin,
  renamed: ReadonlyMap<Collection | Field, string>,
): string {
  const byPosition = Map.groupBy(findReferences(text, origin), ({ position }) => position);
  let result = '';
  let end = 0;
  for (const [position, references] of [...byPosition].sort(([a], [b]) => a - b)) {
    const names = new Set(references.map(({ to }) => renamed.get(to) ?? to.name));
    const [old = '', name = ''] = [references[0]?.to.name, [...names][0]];
    if (names.size > 1 || name === old) continue;
    result += text.slice(end, position) + name;
    end = position + old.length;
  }
  return result + text.slice(end);
}

/** Finds the collections and fields that an operand names. */
export function referencesOf({ operand, within }: PlacedOperand, origin: Origin): Reference[] {
  if (operand.kind === 'owner') {
    const start = operand.position + ownerPrefix.length;
    return (origin.owners ?? []).flatMap((owner) => followPath(operand.segments, start, owner, origin));
  }
  if (operand.kind === 'path') {
    const { segments, position } = operand;
    if (!origin.isEventFilter || within.length > 0) return ofPath(segments, position, within, origin);
    const [root = '', ...rest] = segments;
    const isRecord = root === outerRecord || root === previousRecord;
    return isRecord ? followPath(rest, position + root.length + 1, origin.collection, origin) : [];
  }
  if (operand.kind !== 'request') return [];
  const { segments, position } = operand;
  if (isCallerPath(operand)) {
    const start = position + callerPrefix.length;
    return origin.accounts.flatMap((account) => followPath(segments.slice(1), start, account, origin));
  }
  if (segments[0] !== 'body') return [];
  const start = position + requestPrefix.length + 'body.'.length;
  return followPath(segments.slice(1, 2), start, origin.collection, origin);
}

/** A path within `exists` begins at its record, or with `record` at the outer one. */
function ofPath(segments: readonly string[], position: number, within: readonly string[], origin: Origin): Reference[] {
  if (within.length > 0 && segments.length > 1 && segments[0] === outerRecord)
    return ofPath(segments.slice(1), position + outerRecord.length + 1, within.slice(0, -1), origin);
  const innermost = within.at(-1);
  const collection = innermost === undefined ? origin.collection : origin.schema.findCollection(innermost);
  return collection ? followPath(segments, position, collection, origin) : [];
}

/** The collection that a name means. */
function ofName(name: string, position: number, { schema }: Origin): Reference[] {
  const collection = schema.findCollection(name);
  return collection ? [{ to: collection, collection, position }] : [];
}

/** The collections that `@request.auth.collection` is compared with. */
function ofComparedNames({ test }: PlacedTest, origin: Origin): Reference[] {
  const sides = sidesOf(test);
  const isCompared = sides.some((side) => side.kind === 'request' && side.segments.join('.') === 'auth.collection');
  if (!isCompared) return [];
  const names = sides.filter((side): side is Extract<Operand, { kind: 'text' }> => side.kind === 'text');
  // The name begins after the quote.
  return names.flatMap(({ value, position }) => ofName(value, position + 1, origin));
}

/** The field in `changed("field")`. */
function ofChangedName({ test }: PlacedTest, origin: Origin): Reference[] {
  if (test.kind !== 'in' || !('kind' in test.among) || test.among.kind !== 'path') return [];
  if (test.among.segments[0] !== changedNames || test.left.kind !== 'text') return [];
  return followPath([test.left.value], test.left.position + 1, origin.collection, origin);
}

function followPath(
  segments: readonly string[],
  start: number,
  first: Collection,
  { schema }: Pick<Origin, 'schema'>,
): Reference[] {
  const references: Reference[] = [];
  let collection: Collection | undefined = first;
  let position = start;
  for (const segment of segments) {
    if (!collection) break;
    const field: Field | undefined = membersOf(collection).get(segment)?.field;
    if (field) {
      references.push({ to: field, collection, position });
      collection = field.collection === undefined ? undefined : schema.findCollection(field.collection);
    } else {
      const back = findBackRelation(segment, collection, { schema });
      if (!back) break;
      references.push({ to: back.collection, collection: back.collection, position });
      const at = position + back.collection.name.length + via.length;
      references.push({ to: back.relation, collection: back.collection, position: at });
      collection = back.collection;
    }
    position += segment.length + 1;
  }
  return references;
}
