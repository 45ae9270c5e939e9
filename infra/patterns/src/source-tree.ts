import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

/** Sees a node in a source file, with the nodes around it, the outermost first. Their list changes after the call. */
export type See = (node: Node, around: readonly Node[]) => void;

/** Parses a source file and shows every node; nothing for a file whose text does not match, which needs no parser. */
export function visitSource(path: string, see: See, ifText = /(?:)/): void {
  const text = readFileSync(path, 'utf8');
  if (!ifText.test(text)) return;
  // Types become spaces, so line numbers stay.
  const script = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  const sourceType = path.endsWith('.cjs') ? 'commonjs' : 'module';
  visit(parse(script, { ecmaVersion: 'latest', sourceType, allowHashBang: true, locations: true }), see);
}

/** Shows a node and all nodes within it. */
export function visit(value: unknown, see: See, around: Node[] = []): void {
  if (Array.isArray(value)) for (const item of value) visit(item, see, around);
  if (!isNode(value)) return;
  see(value, around);
  around.push(value);
  for (const child of Object.values(value)) visit(child, see, around);
  around.pop();
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

/** Returns an identifier's name; undefined for any other node. */
export function nameOf(node: unknown): string | undefined {
  const name: unknown = isNode(node) ? Reflect.get(node, 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}

export const lineOf = (node: Node): number => node.loc?.start.line ?? 0;
