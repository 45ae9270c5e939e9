import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

/** A regular expression in a source file. */
export interface FoundPattern {
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/**
 * Finds the regular expressions of a source file: literals, and calls of `RegExp` with literal text. It does not find
 * calls of `RegExp` with text that is only known at run time.
 */
export function findPatterns(path: string): readonly FoundPattern[] {
  const text = readFileSync(path, 'utf8');
  // Types become spaces, so line numbers stay.
  const script = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  const sourceType = path.endsWith('.cjs') ? 'commonjs' : 'module';
  const found: FoundPattern[] = [];
  visit(parse(script, { ecmaVersion: 'latest', sourceType, allowHashBang: true, locations: true }), found);
  return found;
}

function visit(value: unknown, found: FoundPattern[]): void {
  if (Array.isArray(value)) for (const item of value) visit(item, found);
  if (!isNode(value)) return;
  const pattern = patternAt(value);
  if (pattern) found.push({ line: value.loc?.start.line ?? 0, ...pattern });
  for (const child of Object.values(value)) visit(child, found);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

function patternAt(node: Node): { source: string; flags: string } | undefined {
  if (node.type === 'Literal') {
    const regex = Reflect.get(node, 'regex');
    return regex && { source: regex.pattern, flags: regex.flags };
  }
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  if (Reflect.get(Reflect.get(node, 'callee'), 'name') !== 'RegExp') return undefined;
  const [source, flags] = Reflect.get(node, 'arguments').map((argument: Node) => Reflect.get(argument, 'value'));
  return typeof source === 'string' ? { source, flags: typeof flags === 'string' ? flags : '' } : undefined;
}
