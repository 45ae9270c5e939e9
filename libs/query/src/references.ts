import type { Collection, Field } from '@recordbus/schema';
import { requestPrefix } from './ast.ts';
import { membersOf } from './member.ts';
import { parse } from './parser.ts';
import { operandsIn } from './request-names.ts';
import type { Scope } from './scope.ts';

/** A field that an expression names, and the position of the name in the text. */
interface Reference {
  readonly collection: Collection;
  readonly field: Field;
  readonly position: number;
}

type Origin = Omit<Scope, 'audience'>;

/**
 * Finds the fields that a rule names, of its own collection and of those that it crosses into. Names in `@request.body`
 * count, since a rule that guards such a field would guard nothing after a rename. Unknown names are omitted. Throws
 * QueryError for a text that does not parse.
 */
export function findReferences(text: string, origin: Origin): Reference[] {
  return operandsIn(parse(text)).flatMap((operand) => {
    if (operand.kind === 'path') return followPath(operand.segments, operand.position, origin);
    if (operand.kind !== 'request' || operand.segments[0] !== 'body') return [];
    const position = operand.position + requestPrefix.length + 'body.'.length;
    return followPath(operand.segments.slice(1, 2), position, origin);
  });
}

/**
 * Renames fields in the text of an expression, all at once, so that two may swap names. Throws QueryError for a text
 * that does not parse.
 */
export function renameInExpression(text: string, origin: Origin, renamed: ReadonlyMap<Field, string>): string {
  let result = '';
  let end = 0;
  for (const { field, position } of findReferences(text, origin).sort((a, b) => a.position - b.position)) {
    const name = renamed.get(field);
    if (name === undefined) continue;
    result += text.slice(end, position) + name;
    end = position + field.name.length;
  }
  return result + text.slice(end);
}

function followPath(segments: readonly string[], start: number, { collection: first, schema }: Origin): Reference[] {
  const references: Reference[] = [];
  let collection: Collection | undefined = first;
  let position = start;
  for (const segment of segments) {
    const field: Field | undefined = collection && membersOf(collection).get(segment)?.field;
    if (!collection || !field) break;
    references.push({ collection, field, position });
    collection = field.collection === undefined ? undefined : schema.findCollection(field.collection);
    position += segment.length + 1;
  }
  return references;
}
