/** A word, text, bracket or colon in a source. */
interface Token {
  readonly text: string;
  readonly index: number;
  /** How many brackets are around it. */
  readonly depth: number;
}

const token = /\/\*|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|[A-Za-z_$][\w$]*|[{}[\]:]/g;

/**
 * Creates the search for a collection's members in its TypeScript source. A member that the source computes has the
 * line of the nearest member around it that the source names, otherwise the definition's line.
 */
export function findLinesOf(source: string): (path: readonly string[]) => number {
  // A refusal may ask for a thousand lines in one file.
  let tokens: readonly Token[] | undefined;
  return (path) => {
    tokens ??= tokensOf(source);
    const found = tokens[placeOf(tokens, path)];
    return source.slice(0, found?.index ?? 0).split('\n').length;
  };
}

/** Returns where the token is that names a member. */
function placeOf(tokens: readonly Token[], path: readonly string[]): number {
  let place = Math.max(
    tokens.findIndex(({ text }) => text === 'collection'),
    0,
  );
  let isEntry = false;
  for (const step of path) {
    const depth = tokens[place]?.depth ?? 0;
    const named = findEntry(tokens, step, { from: place, depth: depth + 2 });
    const next = named ?? findMember(tokens, step, { from: place, depth: isEntry ? depth : depth + 1 });
    if (next === undefined) break;
    isEntry = named !== undefined;
    place = next;
  }
  return place;
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  let commentEnd = 0;
  for (const { 0: text, index } of source.matchAll(token)) {
    if (index < commentEnd || text.startsWith('//')) continue;
    if (text === '/*') {
      const end = source.indexOf('*/', index + 2);
      commentEnd = end < 0 ? source.length : end + 2;
      continue;
    }
    if (text === '}' || text === ']') depth -= 1;
    tokens.push({ text, index, depth });
    if (text === '{' || text === '[') depth += 1;
  }
  return tokens;
}

interface Search {
  readonly from: number;
  readonly depth: number;
}

/** Finds a list entry by its name: `name: 'title'`. */
const findEntry = (tokens: readonly Token[], name: string, search: Search): number | undefined =>
  find(tokens, search, (at) => isKey(tokens, at, 'name') && unquoted(tokens[at + 2]?.text) === name);

/** Finds a member: `title:` or `'title':`. */
const findMember = (tokens: readonly Token[], name: string, search: Search): number | undefined =>
  find(tokens, search, (at) => isKey(tokens, at, name));

/** Finds a token at a depth, up to the end of the object or list. */
function find(tokens: readonly Token[], { from, depth }: Search, isFound: (at: number) => boolean): number | undefined {
  const least = Math.min(depth, tokens[from]?.depth ?? 0);
  for (let at = from; at < tokens.length; at += 1) {
    const found = tokens[at];
    if (!found || found.depth < least) return undefined;
    if (found.depth === depth && isFound(at)) return at;
  }
  return undefined;
}

const isKey = (tokens: readonly Token[], at: number, name: string): boolean =>
  unquoted(tokens[at]?.text) === name && tokens[at + 1]?.text === ':';

const unquoted = (text: string | undefined): string | undefined => text?.replace(/^(['"])(.*)\1$/, '$2');
