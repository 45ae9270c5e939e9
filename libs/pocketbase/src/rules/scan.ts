import { PocketBaseSyntaxError } from './tree.ts';

export type TokenKind = 'name' | 'number' | 'text' | 'sign' | 'join' | 'open' | 'close' | 'comma' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The text between quotes is unescaped. */
  readonly text: string;
  readonly position: number;
}

/** PocketBase's own limit for a client's filter. Ours for a rule is 4,000. */
const maxCharacters = 4000;

const isLetter = (char: string) => (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z');
const isDigit = (char: string) => char >= '0' && char <= '9';
const isNameStart = (char: string) => isLetter(char) || char === '_' || char === '@' || char === '#';
const isNamePart = (char: string) => isLetter(char) || isDigit(char) || char === '_' || char === '.' || char === ':';
const isSign = (char: string) => char !== '' && '=?!<>~'.includes(char);
const isSpace = (char: string) => char === ' ' || char === '\t' || char === '\n';

/** Splits a text into tokens, in linear time. Throws PocketBaseSyntaxError. */
export function scan(text: string): Token[] {
  if (text.length > maxCharacters)
    throw new PocketBaseSyntaxError(`longer than ${maxCharacters} characters`, maxCharacters);
  const tokens: Token[] = [];
  let [at, depth] = [0, 0];
  const char = () => text.charAt(at);
  const takeWhile = (isPart: (char: string) => boolean) => {
    const start = at;
    while (at < text.length && isPart(char())) at += 1;
    return text.slice(start, at);
  };
  const add = (kind: TokenKind, value: string, position: number) => tokens.push({ kind, text: value, position });

  while (at < text.length) {
    const position = at;
    const first = char();
    if (isSpace(first)) at += 1;
    else if (text.startsWith('//', at)) skipComment();
    else if (first === '(' || first === ')' || first === ',') {
      at += 1;
      depth += first === '(' ? 1 : first === ')' ? -1 : 0;
      add(first === '(' ? 'open' : first === ')' ? 'close' : 'comma', first, position);
    } else if (first === '"' || first === "'") add('text', takeText(first), position);
    else if (isNameStart(first)) {
      at += 1;
      const name = first + takeWhile(isNamePart);
      if (name.endsWith('.') || name.endsWith(':') || (name.length === 1 && !isLetter(name)))
        throw new PocketBaseSyntaxError(`${name} is not a name`, position);
      add('name', name, position);
    } else if (isDigit(first) || first === '-') add('number', takeNumber(), position);
    else if (isSign(first)) add('sign', takeWhile(isSign), position);
    else if (first === '&' || first === '|') {
      const join = takeWhile((part) => part === '&' || part === '|');
      if (join !== '&&' && join !== '||') throw new PocketBaseSyntaxError(`${join} is not && or ||`, position);
      add('join', join, position);
    } else throw new PocketBaseSyntaxError(`unexpected ${JSON.stringify(first)}`, position);
  }
  add('end', '', text.length);
  return tokens;

  /** PocketBase looks for brackets and quotes in a comment within brackets, so those would mean something else here. */
  function skipComment(): void {
    const position = at;
    const comment = takeWhile((part) => part !== '\n');
    if (depth > 0 && ['(', ')', '"', "'"].some((part) => comment.includes(part)))
      throw new PocketBaseSyntaxError('a comment within brackets has a bracket or a quote', position);
  }

  function takeText(quote: string): string {
    const position = at;
    at += 1;
    let value = '';
    while (at < text.length && char() !== quote) {
      const escaped = char() === '\\' ? text.charAt(at + 1) : '';
      value += escaped === '' ? char() : (escapes[escaped] ?? `\\${escaped}`);
      at += escaped === '' ? 1 : 2;
    }
    if (at >= text.length || value.includes('\0')) throw new PocketBaseSyntaxError('a text without an end', position);
    at += 1;
    return value;
  }

  function takeNumber(): string {
    const position = at;
    at += 1;
    const number = text.charAt(position) + takeWhile((part) => isDigit(part) || part === '.');
    const [whole = '', fraction = '0', ...more] = number.replace('-', '').split('.');
    if (whole === '' || fraction === '' || more.length > 0)
      throw new PocketBaseSyntaxError(`${number} is not a number`, position);
    return number;
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' };
