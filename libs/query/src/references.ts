import type { Collection, Field } from '@recordbus/schema';
import type { Expression, Operand } from './ast.ts';
import { requestPrefix } from './ast.ts';
import { membersOf } from './member.ts';
import { parse } from './parser.ts';
import type { Scope } from './scope.ts';

/** A field that an expression names, and where in the text the name stands. */
interface Reference {
  readonly collection: Collection;
  readonly field: Field;
  readonly position: number;
}

type Origin = Omit<Scope, 'writtenBy'>;

/**
 * The fields that a rule names, of its own collection and of those it crosses into; a name in `@request.body` counts,
 * since a rule that guards it would guard nothing after a rename. What is not there is left out.
 * Throws QueryError for a text that does not parse.
 */
export function findReferences(text: string, origin: Origin): Reference[] {
  return operandsOf(parse(text)).flatMap((operand) => {
    if (operand.kind === 'path') return followPath(operand.segments, operand.position, origin);
    if (operand.kind !== 'request' || operand.segments[0] !== 'body') return [];
    const position = operand.position + requestPrefix.length + 'body.'.length;
    return followPath(operand.segments.slice(1, 2), position, origin);
  });
}

/**
 * The text with the new names of fields, all changed at once, so that two may swap theirs, and nothing else changed.
 * Throws QueryError for a text that does not parse.
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

const operandsOf = (expression: Expression): Operand[] =>
  expression.kind === 'comparison' ? [expression.left, expression.right] : expression.items.flatMap(operandsOf);

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
