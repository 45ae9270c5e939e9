import type { Node } from 'acorn';
import { isNode, lineOf, nameOf, visitSource } from './source-tree.ts';

/** Events that bring bytes from a client or another outside peer. */
const events = new Set(['data', 'message', 'upgrade', 'clientError', 'connect', 'field', 'file', 'header', 'part']);

/** Functions that wrap a listener so that what it throws fails its request. */
const guards = new Set(['guarded', 'bound', 'failing']);

/**
 * Finds the lines in a source file that listen to such an event with a function that is not guarded, neither where it
 * stands nor where its constant is declared.
 */
export function findBareListeners(path: string): readonly number[] {
  const guardedNames = new Set<unknown>();
  const listening: { readonly line: number; readonly listener: unknown }[] = [];
  const see = (node: Node): void => {
    if (node.type === 'VariableDeclarator' && isGuarded(Reflect.get(node, 'init')))
      guardedNames.add(nameOf(Reflect.get(node, 'id')));
    if (node.type !== 'CallExpression' || !isListening(Reflect.get(node, 'callee'))) return;
    const [event, listener] = Reflect.get(node, 'arguments');
    if (events.has(Reflect.get(event ?? {}, 'value'))) listening.push({ line: lineOf(event), listener });
  };
  visitSource(path, see, /\.(on|once|addListener)\(/);
  return listening
    .filter(({ listener }) => !isGuarded(listener) && !guardedNames.has(nameOf(listener)))
    .map(({ line }) => line);
}

const isListening = (callee: unknown): boolean =>
  isNode(callee) &&
  callee.type === 'MemberExpression' &&
  /^(on|once|addListener)$/.test(nameOf(Reflect.get(callee, 'property')) ?? '');

const isGuarded = (node: unknown): boolean =>
  isNode(node) && node.type === 'CallExpression' && guards.has(nameOf(Reflect.get(node, 'callee')) ?? '');
