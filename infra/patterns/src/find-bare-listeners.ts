import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

/** Events that bring bytes of a client or another outside peer. */
const events = new Set(['data', 'message', 'upgrade', 'clientError', 'connect', 'field', 'file', 'header', 'part']);

/** Functions that wrap a listener so that what it throws fails its request. */
const guards = new Set(['guarded', 'bound', 'failing']);

/**
 * Finds the lines of a source file that listen to such an event with a function that is not guarded, neither where it
 * stands nor where its constant is declared.
 */
export function findBareListeners(path: string): readonly number[] {
  const text = readFileSync(path, 'utf8');
  // Most files have no listener, and need no parser.
  if (!/\.(on|once|addListener)\(/.test(text)) return [];
  const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true } as const;
  const program = parse(path.endsWith('.ts') ? stripTypeScriptTypes(text) : text, options);
  const guardedNames = new Set<unknown>();
  visit(program, (node) => {
    if (node.type === 'VariableDeclarator' && isGuarded(Reflect.get(node, 'init')))
      guardedNames.add(nameOf(Reflect.get(node, 'id')));
  });
  const lines: number[] = [];
  visit(program, (node) => {
    if (node.type !== 'CallExpression' || !isListening(Reflect.get(node, 'callee'))) return;
    const [event, listener] = Reflect.get(node, 'arguments');
    if (!events.has(Reflect.get(event ?? {}, 'value'))) return;
    if (!isGuarded(listener) && !guardedNames.has(nameOf(listener))) lines.push(event.loc.start.line);
  });
  return lines;
}

const isListening = (callee: unknown): boolean =>
  isNode(callee) &&
  callee.type === 'MemberExpression' &&
  /^(on|once|addListener)$/.test(nameOf(Reflect.get(callee, 'property')) ?? '');

const isGuarded = (node: unknown): boolean =>
  isNode(node) && node.type === 'CallExpression' && guards.has(nameOf(Reflect.get(node, 'callee')) ?? '');

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, see);
  if (!isNode(value)) return;
  see(value);
  for (const child of Object.values(value)) visit(child, see);
}

function nameOf(node: unknown): string | undefined {
  const name: unknown = isNode(node) ? Reflect.get(node, 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';
