import { errorAt, type QueryError } from '../query-error.ts';
import { readTokens, type Token } from './lexer.ts';

/** A text's tokens, taken one after the other. */
export interface TokenStream {
  /** Returns the next token, or one further on, without taking it. */
  peek(ahead?: number): Token;
  take(): Token;
  /** Takes a token of this kind. Throws QueryError for any other. */
  expect(kind: Token['kind'], expected: string): Token;
}

/** Splits a text into tokens. Throws QueryError for characters that belong to no token. */
export function openTokens(text: string): TokenStream {
  const tokens = readTokens(text);
  const end: Token = { kind: 'end', text: '', position: text.length };
  let next = 0;
  const peek = (ahead = 0) => tokens[next + ahead] ?? end;
  const take = () => {
    const token = peek();
    next += 1;
    return token;
  };
  return {
    peek,
    take,
    expect(kind, expected) {
      if (peek().kind !== kind) throw unexpected(peek(), expected);
      return take();
    },
  };
}

/** The error for a token that does not belong here. */
export function unexpected({ kind, text, position }: Token, expected: string): QueryError {
  return errorAt(`${expected}, found ${kind === 'end' ? 'the end' : JSON.stringify(text)}`, position);
}
