import { limits } from '../limits.ts';
import { errorAt } from '../query-error.ts';
import {
  changedNames,
  type Exists,
  type Expression,
  type Membership,
  type Operand,
  operators,
  type Test,
} from './ast.ts';
import { parseOperand } from './parse-operand.ts';
import { openTokens, type TokenStream, unexpected } from './token-stream.ts';

/** How deeply a part is nested within the expression. */
interface Depth {
  readonly parentheses: number;
  readonly exists: number;
}

/** What an expression may have in addition to the common language. */
interface Dialect {
  /** Whether it may call `changed("field")`, as a webhook's filter does (webhooks §1.7). */
  readonly hasChanged?: boolean;
}

/**
 * Parses an expression. `&&` binds tighter than `||`; parentheses group. Words are reserved only where the grammar uses
 * them, so fields may have their names. Throws QueryError for a text that is not an expression or exceeds the limits
 * (filters §3).
 */
export function parse(text: string, dialect: Dialect = {}): Expression {
  const tokens = openTokens(text);
  const counts = createCounts(text, tokens);
  const expression = createParser(tokens, counts, dialect)({ parentheses: 0, exists: 0 });
  const { kind } = tokens.peek();
  // A word after a whole test most likely continues a text without quotes.
  const hint = kind === 'name' ? ' (a text needs quotes)' : '';
  if (kind !== 'end') throw unexpected(tokens.peek(), `expected && or ||${hint}`);
  counts.checkLength();
  return expression;
}

type Parse<T> = (depth: Depth) => T;

function createParser(tokens: TokenStream, counts: Counts, { hasChanged }: Dialect): Parse<Expression> {
  const isJoin = (sign: string) => tokens.peek().kind === 'join' && tokens.peek().text === sign;

  const readAny: Parse<Expression> = (depth) =>
    readJunction('any', '||', () => readJunction('all', '&&', () => readTerm(depth)));

  function readJunction(kind: 'any' | 'all', sign: string, readItem: () => Expression): Expression {
    const first = readItem();
    if (!isJoin(sign)) return first;
    const items = [first];
    while (isJoin(sign)) {
      tokens.take();
      items.push(readItem());
    }
    return { kind, items };
  }

  const readTerm: Parse<Expression> = (depth) => {
    if (tokens.peek().kind === 'open') return readGroup(depth);
    const isCall = tokens.peek().kind === 'name' && tokens.peek(1).kind === 'open';
    const { text, position } = tokens.peek();
    if (text === 'not' && (isCall || isTermWord(tokens))) {
      tokens.take();
      return { kind: 'not', item: isCall ? readGroup(depth) : readTerm(depth) };
    }
    if (isCall && text === 'exists') return readExists(depth);
    if (isCall && text === 'changed' && hasChanged) return readChanged(tokens, counts);
    if (isCall && (text === 'all' || text === 'none')) {
      tokens.take();
      tokens.take();
      const test = readTest(tokens, counts);
      tokens.expect('close', 'expected )');
      return { kind: 'quantified', quantifier: text, test, position };
    }
    return readTest(tokens, counts);
  };

  const readGroup: Parse<Expression> = ({ parentheses, exists }) => {
    const { position } = tokens.take();
    if (parentheses === limits.nesting) throw errorAt(`parentheses nest more than ${limits.nesting} deep`, position);
    const inner = readAny({ parentheses: parentheses + 1, exists });
    tokens.expect('close', 'expected && , || or )');
    return inner;
  };

  const readExists: Parse<Exists> = ({ parentheses, exists }) => {
    counts.addTerm();
    const word = tokens.take();
    if (exists === limits.exists) throw errorAt(`exists nests more than ${limits.exists} deep`, word.position);
    tokens.take();
    const { text: collection, position } = tokens.expect('name', 'expected a collection name');
    tokens.expect('comma', 'expected ,');
    const condition = readAny({ parentheses: parentheses + 1, exists: exists + 1 });
    tokens.expect('close', 'expected && , || or )');
    return { kind: 'exists', collection, condition, position };
  };

  return readAny;
}

/** Whether the words after `not` begin a term that needs no parentheses: `not exists(…)`. */
const isTermWord = (tokens: TokenStream): boolean =>
  tokens.peek().kind === 'name' &&
  tokens.peek(1).kind === 'name' &&
  ['exists', 'all', 'none', 'changed'].includes(tokens.peek(1).text) &&
  tokens.peek(2).kind === 'open';

/** Reads `changed("field")`: whether the names of the changed fields have this one. */
function readChanged(tokens: TokenStream, counts: Counts): Membership {
  counts.addTerm();
  const { position } = tokens.take();
  tokens.take();
  const { text: value, position: at } = tokens.expect('text', 'expected a field name in quotes');
  tokens.expect('close', 'expected )');
  const among = { kind: 'path', segments: [changedNames], position } as const;
  return { kind: 'in', left: { kind: 'text', value, position: at }, among, position };
}

/** Reads a comparison or a membership. */
function readTest(tokens: TokenStream, counts: Counts): Test {
  counts.addTerm();
  const left = parseOperand(tokens);
  const sign = tokens.take();
  if (sign.kind === 'name' && sign.text === 'in')
    return { kind: 'in', left, among: readAmong(tokens, counts), position: sign.position };
  const operator = operators.find((known) => sign.kind === 'operator' && known === sign.text);
  if (!operator) throw unexpected(sign, 'expected a comparison');
  return { kind: 'comparison', operator, left, right: parseOperand(tokens) };
}

/** Reads what follows `in`: items in parentheses, or a path. */
function readAmong(tokens: TokenStream, counts: Counts): Extract<Test, { kind: 'in' }>['among'] {
  const first = tokens.peek();
  if (first.kind !== 'open') {
    const path = parseOperand(tokens);
    if (path.kind !== 'path' && path.kind !== 'request' && path.kind !== 'owner')
      throw errorAt('in takes values in parentheses, or a path', first.position);
    return path;
  }
  const items: Operand[] = [];
  do {
    tokens.take();
    const item = parseOperand(tokens);
    counts.addItem(item);
    items.push(item);
  } while (tokens.peek().kind === 'comma');
  counts.addItems(first.position, tokens.peek().position);
  tokens.expect('close', 'expected , or )');
  return items;
}

/** Counts what an expression has. Throws QueryError beyond a limit. */
interface Counts {
  addTerm(): void;
  addItem(item: Operand): void;
  /** Notes which part of the text holds the items of one `in (…)`. */
  addItems(from: number, to: number): void;
  /** Checks the text's length without these parts, once all of it was read. */
  checkLength(): void;
}

const literals: ReadonlySet<string> = new Set(['text', 'number', 'bool', 'null']);

function createCounts(text: string, tokens: TokenStream): Counts {
  let [terms, items, unitsOfItems] = [0, 0, 0];
  let codePointsOfItems = 0;
  const addTerm = () => {
    terms += 1;
    if (terms > limits.terms) throw errorAt(`there are more than ${limits.terms} comparisons`, tokens.peek().position);
  };
  return {
    addTerm,
    addItem({ kind, position }) {
      items += 1;
      if (items > limits.items) throw errorAt(`there are more than ${limits.items} values in parentheses`, position);
      // All literals share one statement parameter.
      if (!literals.has(kind)) addTerm();
    },
    addItems(from, to) {
      unitsOfItems += to - from;
      codePointsOfItems += countCodePoints(text.slice(from, to));
    },
    checkLength() {
      if (text.length - unitsOfItems <= limits.characters) return;
      if (countCodePoints(text) - codePointsOfItems > limits.characters)
        throw errorAt(`an expression has at most ${limits.characters} characters`, limits.characters);
    },
  };
}

const countCodePoints = (text: string): number => [...text].length;
