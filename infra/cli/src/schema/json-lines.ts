import { createTokens, JsonProblem } from './json-tokens.ts';

/** Finds the line for each value in a JSON text. */
export interface JsonLines {
  readonly value: unknown;
  /** The line with the value at a path, or with the nearest value around it. List entries are also found by `name`. */
  lineOf(path: readonly string[]): number;
}

interface Node {
  readonly line: number;
  readonly members?: ReadonlyMap<string, Node>;
  readonly items?: readonly Node[];
  readonly text?: string;
}

/** No schema file is nested more deeply. */
const maxDepth = 100;

/** Parses a JSON text. Throws a JsonProblem with its line. */
export function readJsonLines(text: string): JsonLines {
  const root = readNode(text);
  return {
    value: JSON.parse(text),
    lineOf(path) {
      let node = root;
      for (const step of path) {
        const next: Node | undefined =
          node.members?.get(step) ??
          node.items?.find(({ members }) => members?.get('name')?.text === step) ??
          (/^\d+$/.test(step) ? node.items?.[Number(step)] : undefined);
        if (!next) break;
        node = next;
      }
      return node.line;
    },
  };
}

const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Reads a JSON text's structure. The messages from JSON.parse name no line, so this names what is wrong. */
function readNode(text: string): Node {
  const { next, line, textOf, unexpected } = createTokens(text);
  const read = (first: string, depth: number): Node => {
    const at = line();
    if (depth > maxDepth) throw new JsonProblem(at, `has more than ${maxDepth} levels`);
    if (first === '{') return { line: at, members: readMembers(depth) };
    if (first === '[') return { line: at, items: readItems(depth) };
    if (first.startsWith('"')) return { line: at, text: textOf(first) };
    if (!literal.test(first)) throw unexpected(first, 'a value');
    return { line: at };
  };
  const readMembers = (depth: number): Map<string, Node> => {
    const members = new Map<string, Node>();
    for (let key = next(); key !== '}' || members.size > 0; key = next()) {
      if (!key.startsWith('"')) throw unexpected(key, 'a member name in double quotes');
      const name = textOf(key);
      if (members.has(name)) throw new JsonProblem(line(), `has the member ${JSON.stringify(name)} twice`);
      const colon = next();
      if (colon !== ':') throw unexpected(colon, 'a colon');
      members.set(name, read(next(), depth + 1));
      const end = next();
      if (end === '}') break;
      if (end !== ',') throw unexpected(end, 'a comma or }');
    }
    return members;
  };
  const readItems = (depth: number): Node[] => {
    const items: Node[] = [];
    for (let first = next(); first !== ']' || items.length > 0; first = next()) {
      items.push(read(first, depth + 1));
      const end = next();
      if (end === ']') break;
      if (end !== ',') throw unexpected(end, 'a comma or ]');
    }
    return items;
  };
  const root = read(next(), 0);
  const rest = next();
  if (rest !== '') throw unexpected(rest, 'the end');
  return root;
}
