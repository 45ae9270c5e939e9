import type { Node } from 'acorn';
import { lineOf, nameOf, visitSource } from './source-tree.ts';

/** A regular expression in a source file. */
export interface FoundPattern {
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/**
 * Finds the regular expressions in a source file: literals, and calls to `RegExp` with literal text. It does not find
 * calls to `RegExp` with text that is only known at run time.
 */
export function findPatterns(path: string): readonly FoundPattern[] {
  const found: FoundPattern[] = [];
  visitSource(path, (node) => {
    const pattern = patternAt(node);
    if (pattern) found.push({ line: lineOf(node), ...pattern });
  });
  return found;
}

function patternAt(node: Node): { source: string; flags: string } | undefined {
  if (node.type === 'Literal') {
    const regex = Reflect.get(node, 'regex');
    return regex && { source: regex.pattern, flags: regex.flags };
  }
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  if (nameOf(Reflect.get(node, 'callee')) !== 'RegExp') return undefined;
  const [source, flags] = Reflect.get(node, 'arguments').map((argument: Node) => Reflect.get(argument, 'value'));
  return typeof source === 'string' ? { source, flags: typeof flags === 'string' ? flags : '' } : undefined;
}
