import { scan, type Token, type TokenKind } from './scan.ts';
import { type Operand, type Operator, operators, PocketBaseSyntaxError, type Tree } from './tree.ts';

const maxDepth = 32;
const maxComparisons = 200;
const maxCallDepth = 3;

/**
 * Parses PocketBase's rule or filter. Takes what PocketBase takes, but a group that does not stand where a comparison
 * may. Throws PocketBaseSyntaxError.
 */
export function parsePocketBase(text: string): Tree {
  const tokens = scan(text);
  let [at, comparisons] = [0, 0];
  const peek = (): Token => tokens[at] ?? { kind: 'end', text: '', position: text.length };
  const take = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };

  const tree = readAny(0);
  expect('end', 'expected && or ||');
  return tree;

  function expect(kind: TokenKind, expected: string): Token {
    const token = take();
    if (token.kind !== kind) throw unexpected(token, expected);
    return token;
  }

  function readAny(depth: number): Tree {
    return readJunction('or', '||', () => readJunction('and', '&&', () => readTerm(depth)));
  }

  function readJunction(kind: 'and' | 'or', sign: string, readItem: () => Tree): Tree {
    const items = [readItem()];
    while (peek().kind === 'join' && peek().text === sign) {
      take();
      items.push(readItem());
    }
    const [only] = items;
    return items.length === 1 && only ? only : { kind, items };
  }

  function readTerm(depth: number): Tree {
    if (peek().kind !== 'open') return readComparison();
    const { position } = take();
    if (depth === maxDepth) throw new PocketBaseSyntaxError(`brackets nest more than ${maxDepth} deep`, position);
    const inner = readAny(depth + 1);
    expect('close', 'expected )');
    return inner;
  }

  function readComparison(): Tree {
    comparisons += 1;
    if (comparisons > maxComparisons)
      throw new PocketBaseSyntaxError(`more than ${maxComparisons} comparisons`, peek().position);
    const left = readOperand(maxCallDepth);
    const sign = take();
    const isAny = sign.text.startsWith('?');
    const operator = operators.find((known) => known === (isAny ? sign.text.slice(1) : sign.text));
    if (sign.kind !== 'sign' || !operator) throw unexpected(sign, 'expected an operator');
    return { kind: 'comparison', operator: operator satisfies Operator, isAny, left, right: readOperand(maxCallDepth) };
  }

  function readOperand(callsLeft: number): Operand {
    const token = take();
    const { text: value, position } = token;
    if (token.kind === 'text') return { kind: 'text', value, position };
    if (token.kind === 'number') return { kind: 'number', value: Number(value), position };
    if (token.kind !== 'name') throw unexpected(token, 'expected a field or a value');
    const isCall = peek().kind === 'open' && peek().position === position + value.length;
    return isCall ? readCall(token, callsLeft) : { kind: 'name', name: value, position };
  }

  function readCall({ text: name, position }: Token, callsLeft: number): Operand {
    if (callsLeft === 0) throw new PocketBaseSyntaxError(`functions nest more than ${maxCallDepth} deep`, position);
    take();
    const given: Operand[] = [];
    while (peek().kind !== 'close') {
      if (given.length > 0) expect('comma', 'expected ,');
      given.push(readOperand(callsLeft - 1));
    }
    take();
    return { kind: 'call', name, arguments: given, position };
  }
}

function unexpected({ kind, text, position }: Token, expected: string): PocketBaseSyntaxError {
  return new PocketBaseSyntaxError(`${expected}, found ${kind === 'end' ? 'the end' : text}`, position);
}
