import { errorAt } from '@recordbus/query';

/** What a value is computed from: fields and numbers. Positions are offsets in the text. */
export type Calculation =
  | { readonly kind: 'path'; readonly path: string; readonly position: number }
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'minus'; readonly of: Calculation; readonly position: number }
  | {
      readonly kind: 'operation';
      readonly operator: CalculationOperator;
      readonly left: Calculation;
      readonly right: Calculation;
      /** The operator's. */
      readonly position: number;
    };

export type CalculationOperator = '+' | '-' | '*' | '/';

const limits = { characters: 300, operands: 10 };

/** A text with one of these characters is a calculation, otherwise a path. */
const calculates = /[-+*/()\s]/;

const token = /([A-Za-z_]\w*(?:\.\w+)*)|(\d+(?:\.\d+)?)|([-+*/()])|\s/y;

interface Token {
  readonly kind: 'path' | 'number' | 'sign' | 'end';
  readonly text: string;
  readonly position: number;
}

const operators: readonly CalculationOperator[] = ['+', '-', '*', '/'];

/** Parses a path, or a calculation with `+ - * /` and parentheses. Throws QueryError for any other text. */
export function parseCalculation(text: string): Calculation {
  if (!calculates.test(text)) return { kind: 'path', path: text, position: 0 };
  const tokens = readTokens(text);
  let next = 0;
  const nextOf = (signs: string) => operators.find((sign) => signs.includes(sign) && sign === tokens[next]?.text);
  const take = (): Token => {
    const taken = tokens[next] ?? end(text);
    next += 1;
    return taken;
  };

  function readChain(signs: '+-' | '*/', readPart: () => Calculation): Calculation {
    let left = readPart();
    for (let operator = nextOf(signs); operator; operator = nextOf(signs)) {
      const { position } = take();
      left = { kind: 'operation', operator, left, right: readPart(), position };
    }
    return left;
  }
  const readSum = (): Calculation => readChain('+-', () => readChain('*/', readFactor));

  function readFactor(): Calculation {
    const { kind, text: taken, position } = take();
    if (kind === 'path') return { kind, path: taken, position };
    if (kind === 'number') return { kind, digits: taken };
    if (taken === '-') return { kind: 'minus', of: readFactor(), position };
    if (taken !== '(') throw unexpected('a field or a number', { kind, text: taken, position });
    const inner = readSum();
    const close = take();
    if (close.text !== ')') throw unexpected(')', close);
    return inner;
  }

  const whole = readSum();
  const rest = take();
  // In an address, + means a space.
  const hint = rest.kind === 'path' || rest.kind === 'number' ? ' (in an address, + is written %2B)' : '';
  if (rest.kind !== 'end') throw unexpected(`an operator${hint}`, rest);
  return whole;
}

/** The calculation's text without spaces, by which `sort` and `having` find it. */
export const withoutSpaces = (text: string): string => text.replace(/\s+/g, '');

const end = (text: string): Token => ({ kind: 'end', text: '', position: text.length });

const unexpected = (expected: string, { kind, text, position }: Token) =>
  errorAt(`expected ${expected}, found ${kind === 'end' ? 'the end' : JSON.stringify(text)}`, position);

function readTokens(text: string): readonly Token[] {
  if (text.length > limits.characters)
    throw errorAt(`a calculation has at most ${limits.characters} characters`, limits.characters);
  const tokens: Token[] = [];
  for (token.lastIndex = 0; token.lastIndex < text.length; ) {
    const position = token.lastIndex;
    const [whole, path, number, sign] = token.exec(text) ?? [];
    if (whole === undefined) throw errorAt(`unexpected ${JSON.stringify(text[position])}`, position);
    if (path !== undefined) tokens.push({ kind: 'path', text: path, position });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, position });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, position });
  }
  const operands = tokens.filter(({ kind }) => kind !== 'sign');
  const tooMany = operands[limits.operands];
  if (tooMany) throw errorAt(`a calculation has at most ${limits.operands} fields and numbers`, tooMany.position);
  if (!operands.some(({ kind }) => kind === 'path')) throw errorAt('a calculation names a field', 0);
  return tokens;
}
