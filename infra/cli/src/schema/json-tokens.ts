/** A text that is not JSON, or has a member twice. */
export class JsonProblem extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** A JSON text's tokens, and the messages for those that do not fit. */
export interface JsonTokens {
  /** Returns the next token, which is empty at the end. */
  next(): string;
  /** Returns the last token's line, from 1. */
  line(): number;
  /** Returns a quoted token's value. */
  textOf(token: string): string;
  unexpected(found: string, wanted: string): JsonProblem;
}

const space = /[ \t\r\n]*/y;
/** No token has a line break in it. */
const token = /"(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/y;

/** Creates a token reader. It throws a JsonProblem at a character that begins no token. */
export function createTokens(text: string): JsonTokens {
  let [position, line] = [0, 1];
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const [found = ''] = pattern.exec(text) ?? [];
    position += found.length;
    return found;
  };
  const wrong = (what: string) => new JsonProblem(line, `is not JSON: there is ${what}`);
  return {
    next() {
      line += skip(space).split('\n').length - 1;
      const found = skip(token);
      if (found === '' && position < text.length)
        throw wrong(text[position] === '"' ? 'a text without its closing quote' : 'a wrong character');
      return found;
    },
    line: () => line,
    textOf(found) {
      try {
        return String(JSON.parse(found));
      } catch {
        throw wrong('a wrong character or escape in a text');
      }
    },
    unexpected: (found, wanted) =>
      wrong(`${found === '' ? 'an end' : found.slice(0, maxShown)} where ${wanted} is expected`),
  };
}

/** Messages show this many characters from a token. */
const maxShown = 40;
