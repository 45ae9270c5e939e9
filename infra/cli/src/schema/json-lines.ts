/** Finds the lines of the values in a JSON text. */
export interface JsonLines {
  readonly value: unknown;
  /** The line of the value at a path, or of the nearest value around it. Entries of lists are found by `name` too. */
  lineOf(path: readonly string[]): number;
}

/** A text that is not JSON, or has a member twice. */
export class JsonProblem extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
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
  const value = parse(text);
  const root = readNode(text);
  return {
    value,
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, place] = /at position (\d+)/.exec(message) ?? [];
    const end = place === undefined ? text.length : Number(place);
    throw new JsonProblem(text.slice(0, end).split('\n').length, `is not JSON: ${message}`);
  }
}

const token = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+|\n/gs;

/** Reads the structure of a text that is valid JSON. */
function readNode(text: string): Node {
  const tokens = text.matchAll(token);
  let line = 1;
  const next = (): string => {
    for (;;) {
      const { value, done } = tokens.next();
      if (done) throw new JsonProblem(line, 'ends too early');
      const [found = ''] = value;
      if (found !== '\n') return found;
      line += 1;
    }
  };
  const read = (first: string, depth: number): Node => {
    if (depth > maxDepth) throw new JsonProblem(line, `has more than ${maxDepth} levels`);
    const at = line;
    if (first === '{') return { line: at, members: readMembers(depth) };
    if (first === '[') return { line: at, items: readItems(depth) };
    return first.startsWith('"') ? { line: at, text: String(JSON.parse(first)) } : { line: at };
  };
  const readMembers = (depth: number): Map<string, Node> => {
    const members = new Map<string, Node>();
    for (let key = next(); key !== '}'; key = next()) {
      if (key === ',') key = next();
      const name = String(JSON.parse(key));
      if (members.has(name)) throw new JsonProblem(line, `has the member ${JSON.stringify(name)} twice`);
      next();
      members.set(name, read(next(), depth + 1));
    }
    return members;
  };
  const readItems = (depth: number): Node[] => {
    const items: Node[] = [];
    for (let first = next(); first !== ']'; first = next()) items.push(read(first === ',' ? next() : first, depth + 1));
    return items;
  };
  return read(next(), 0);
}
