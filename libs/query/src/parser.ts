import { type Expression, type Modifier, modifiers, moments, type Operand, operators, requestPrefix } from './ast.ts';
import { readTokens, type Token } from './lexer.ts';
import { limits } from './limits.ts';
import { errorAt, type QueryError } from './query-error.ts';

/**
 * Parses an expression. `&&` binds tighter than `||`; parentheses group.
 * Throws QueryError for a text that is not an expression or exceeds the limits (filters §3).
 */
export function parse(text: string): Expression {
  const tokens = readTokens(text);
  let next = 0;
  let terms = 0;

  const peek = (): Token => tokens[next] ?? { kind: 'end', text: '', position: text.length };
  const take = (): Token => {
    const token = peek();
    next += 1;
    return token;
  };
  const isJoin = (sign: string) => peek().kind === 'join' && peek().text === sign;

  function readAny(depth: number): Expression {
    return readJunction('any', '||', () => readJunction('all', '&&', () => readTerm(depth)));
  }

  function readJunction(kind: 'any' | 'all', sign: string, readItem: () => Expression): Expression {
    const first = readItem();
    if (!isJoin(sign)) return first;
    const items = [first];
    while (isJoin(sign)) {
      take();
      items.push(readItem());
    }
    return { kind, items };
  }

  function readTerm(depth: number): Expression {
    if (peek().kind === 'open') {
      const { position } = take();
      if (depth === limits.nesting) throw errorAt(`parentheses nest more than ${limits.nesting} deep`, position);
      const inner = readAny(depth + 1);
      if (peek().kind !== 'close') throw unexpected(peek(), 'expected && , || or )');
      take();
      return inner;
    }
    terms += 1;
    if (terms > limits.terms) throw errorAt(`there are more than ${limits.terms} comparisons`, peek().position);
    const left = readOperand(take());
    const sign = take();
    const operator = operators.find((known) => sign.kind === 'operator' && known === sign.text);
    if (!operator) throw unexpected(sign, 'expected a comparison');
    return { kind: 'comparison', operator, left, right: readOperand(take()) };
  }

  const expression = readAny(0);
  if (peek().kind !== 'end') throw unexpected(peek(), 'expected && or ||');
  return expression;
}

function unexpected({ kind, text, position }: Token, expected: string): QueryError {
  return errorAt(`${expected}, found ${kind === 'end' ? 'the end' : JSON.stringify(text)}`, position);
}

function readOperand(token: Token): Operand {
  const { kind, text, position } = token;
  switch (kind) {
    case 'text':
      return { kind, value: text, position };
    case 'number':
      return readNumber(text, position);
    case 'name':
      if (text === 'null') return { kind: 'null', position };
      if (text === 'true' || text === 'false') return { kind: 'bool', value: text === 'true', position };
      return { kind: 'path', ...readPath(text, position), position };
    case 'macro':
      return readMacro(text, position);
    default:
      throw unexpected(token, 'expected a field or a value');
  }
}

function readNumber(digits: string, position: number): Operand {
  if (!Number.isFinite(Number(digits))) throw errorAt('the number is too large', position);
  return { kind: 'number', digits, position };
}

function readMacro(text: string, position: number): Operand {
  const moment = moments.find((name) => text === `@${name}`);
  if (moment) return { kind: 'moment', name: moment, position };
  if (!text.startsWith(requestPrefix)) throw errorAt(`unknown ${text}`, position);
  return { kind: 'request', ...readPath(text.slice(requestPrefix.length), position), position };
}

function readPath(text: string, position: number): { segments: string[]; modifier?: Modifier } {
  const [path = '', written] = text.split(':');
  const segments = path.split('.');
  if (written === undefined) return { segments };
  const modifier = modifiers.find((name) => name === written);
  if (!modifier) throw errorAt(`unknown modifier :${written}`, position);
  return { segments, modifier };
}
