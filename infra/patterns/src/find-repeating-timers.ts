import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

/** Functions and loops around a node, the outermost first. */
interface Around {
  readonly functions: readonly (string | undefined)[];
  readonly isInLoop: boolean;
}

/**
 * Finds the lines of a source file that write a repeating timer by hand: `setInterval`, a `setTimeout` that calls the
 * function which set it, and a loop that waits for the `setTimeout` of `node:timers/promises`.
 */
export function findRepeatingTimers(path: string): readonly number[] {
  const text = readFileSync(path, 'utf8');
  // Most files have no timer, and need no parser.
  if (!/set(Interval|Timeout)/.test(text)) return [];
  const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true } as const;
  const program = parse(path.endsWith('.ts') ? stripTypeScriptTypes(text) : text, options);
  const waits = new Set(importedWaits(program));
  const lines = new Set<number>();
  visit(program, { functions: [], isInLoop: false }, (node, around) => {
    if (node.type !== 'CallExpression') return;
    const callee = nameOf(Reflect.get(node, 'callee'));
    const [first] = Reflect.get(node, 'arguments');
    const isRepeating =
      callee === 'setInterval' ||
      (waits.has(callee) && around.isInLoop) ||
      (callee === 'setTimeout' && !waits.has(callee) && calls(first, around.functions));
    if (isRepeating) lines.add(node.loc?.start.line ?? 0);
  });
  return [...lines];
}

/** The local names of `setTimeout` of `node:timers/promises`. */
function importedWaits(program: Node): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  for (const statement of Reflect.get(program, 'body')) {
    if (statement.type !== 'ImportDeclaration' || statement.source.value !== 'node:timers/promises') continue;
    for (const { imported, local } of statement.specifiers)
      if (nameOf(imported) === 'setTimeout') names.push(nameOf(local));
  }
  return names;
}

/** Whether a callback is one of the functions, or calls one of them. */
function calls(callback: unknown, functions: Around['functions']): boolean {
  const isOne = (node: unknown) => nameOf(node) !== undefined && functions.includes(nameOf(node));
  let found = isOne(callback);
  visit(callback, { functions: [], isInLoop: false }, (node) => {
    if (node.type === 'CallExpression') found ||= isOne(Reflect.get(node, 'callee'));
  });
  return found;
}

function visit(value: unknown, around: Around, see: (node: Node, around: Around) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, around, see);
  if (!isNode(value)) return;
  see(value, around);
  const inner = within(value, around);
  for (const child of Object.values(value)) visit(child, inner, see);
}

function within(node: Node, { functions, isInLoop }: Around): Around {
  if (isFunction(node)) return { functions: [...functions, nameOf(Reflect.get(node, 'id'))], isInLoop: false };
  // A function without a name of its own has that of its variable, property or method.
  const isNaming = isFunction(Reflect.get(node, 'init')) || isFunction(Reflect.get(node, 'value'));
  const name = Reflect.get(node, 'key') ?? Reflect.get(node, 'id');
  if (isNaming) return { functions: [...functions, nameOf(name)], isInLoop };
  return { functions, isInLoop: isInLoop || /^(For|While|DoWhile)/.test(node.type) };
}

const isFunction = (node: unknown): boolean => isNode(node) && /Function/.test(node.type);

/** Returns the name of an identifier, or of the member in `this.#keepUp`; undefined for any other node. */
function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'MemberExpression') {
    const isOwn = Reflect.get(Reflect.get(node, 'object'), 'type') === 'ThisExpression';
    return isOwn ? nameOf(Reflect.get(node, 'property')) : undefined;
  }
  const name = Reflect.get(node, 'name');
  return typeof name === 'string' ? name : undefined;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';
