import type { Node } from 'acorn';
import { isNode, lineOf, nameOf as nameOfIdentifier, type See, visit, visitSource } from './source-tree.ts';

/** Functions and loops around a node, the outermost first. */
interface Around {
  readonly functions: readonly (string | undefined)[];
  readonly isInLoop: boolean;
}

const outside: Around = { functions: [], isInLoop: false };

/**
 * Finds the lines in a source file that write a repeating timer by hand: `setInterval`, a `setTimeout` that calls the
 * function which set it, and a loop that waits for `setTimeout` from `node:timers/promises`.
 */
export function findRepeatingTimers(path: string): readonly number[] {
  const waits = new Set<string | undefined>();
  const lines = new Set<number>();
  const see: See = (node, around) => {
    if (node.type === 'ImportDeclaration') for (const name of importedWaits(node)) waits.add(name);
    if (node.type !== 'CallExpression') return;
    const { functions, isInLoop } = around.reduce(within, outside);
    const callee = nameOf(Reflect.get(node, 'callee'));
    const [first] = Reflect.get(node, 'arguments');
    const isRepeating =
      callee === 'setInterval' ||
      (waits.has(callee) && isInLoop) ||
      (callee === 'setTimeout' && !waits.has(callee) && calls(first, functions));
    if (isRepeating) lines.add(lineOf(node));
  };
  visitSource(path, see, /set(Interval|Timeout)/);
  return [...lines];
}

/** The local names for `setTimeout` from `node:timers/promises`. Imports stand before what uses them. */
function importedWaits(statement: Node): (string | undefined)[] {
  if (Reflect.get(Reflect.get(statement, 'source'), 'value') !== 'node:timers/promises') return [];
  return Reflect.get(statement, 'specifiers').flatMap((specifier: Node) =>
    nameOf(Reflect.get(specifier, 'imported')) === 'setTimeout' ? [nameOf(Reflect.get(specifier, 'local'))] : [],
  );
}

/** Whether a callback is one of the functions, or calls one. */
function calls(callback: unknown, functions: Around['functions']): boolean {
  const isOne = (node: unknown) => nameOf(node) !== undefined && functions.includes(nameOf(node));
  let found = isOne(callback);
  visit(callback, (node) => {
    if (node.type === 'CallExpression') found ||= isOne(Reflect.get(node, 'callee'));
  });
  return found;
}

function within({ functions, isInLoop }: Around, node: Node): Around {
  if (isFunction(node)) return { functions: [...functions, nameOf(Reflect.get(node, 'id'))], isInLoop: false };
  // A function without its own name has its variable's, property's or method's.
  const isNaming = isFunction(Reflect.get(node, 'init')) || isFunction(Reflect.get(node, 'value'));
  const name = Reflect.get(node, 'key') ?? Reflect.get(node, 'id');
  if (isNaming) return { functions: [...functions, nameOf(name)], isInLoop };
  return { functions, isInLoop: isInLoop || /^(For|While|DoWhile)/.test(node.type) };
}

const isFunction = (node: unknown): boolean => isNode(node) && /Function/.test(node.type);

/** Returns an identifier's name, or the member's in `this.#keepUp`; undefined for any other node. */
function nameOf(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== 'MemberExpression') return nameOfIdentifier(node);
  const isOwn = Reflect.get(Reflect.get(node, 'object'), 'type') === 'ThisExpression';
  return isOwn ? nameOf(Reflect.get(node, 'property')) : undefined;
}
