import type { Operand } from '../src/language/ast.ts';
import type { Situation } from './evaluator.ts';
import { kindOfMember, membersOf } from './members.ts';
import { memberOf } from './path-ends.ts';
import { lowered } from './sides.ts';
import { jsonText, type Value } from './values.ts';

/** Evaluates a request value that is not the caller's. It belongs to the whole expression's record. */
export function requestValue(operand: Extract<Operand, { kind: 'request' }>, situation: Situation): Value {
  if (situation.outer) return requestValue(operand, situation.outer);
  const { request, collection, record } = situation;
  const [part, name = '', ...keys] = operand.segments;
  if (part === 'method') {
    const method: Value = { value: request.method, type: 'text' };
    return operand.modifier === 'lower' ? lowered(method) : method;
  }
  const { value, isSet } = read(operand, situation);
  if (operand.modifier === 'isset') return { value: isSet, type: 'bool' };
  if (operand.modifier === 'changed')
    return { value: isSet && jsonText(value) !== jsonText(record[name] ?? null), type: 'bool' };
  if (operand.modifier === 'lower') return lowered({ value, type: undefined });
  if (part !== 'body' || keys.length > 0) return { value, type: undefined };
  return { value, type: undefined, leaning: kindOfMember(name, membersOf(collection).get(name)) };
}

function read(
  { segments }: Extract<Operand, { kind: 'request' }>,
  { request }: Situation,
): { readonly value: unknown; readonly isSet: boolean } {
  const [part, name = '', ...keys] = segments;
  if (part === 'body') {
    const value = [name, ...keys].reduce(memberOf, request.body) ?? null;
    return { value, isSet: Object.hasOwn(request.body ?? {}, name) };
  }
  const value = request[part === 'query' ? 'query' : 'header'](name) ?? null;
  return { value, isSet: value !== null };
}
