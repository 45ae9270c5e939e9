import { limits } from '../limits.ts';
import { errorAt } from '../query-error.ts';
import {
  type Modifier,
  type Moment,
  modifiers,
  moments,
  type Operand,
  type OwnerPath,
  ownerPrefix,
  type Path,
  type RequestPath,
  requestPrefix,
} from './ast.ts';
import type { Token } from './lexer.ts';
import { type TokenStream, unexpected } from './token-stream.ts';

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Reads one side of a test. Throws QueryError for anything else. */
export function parseOperand(tokens: TokenStream): Operand {
  const token = tokens.take();
  const { kind, text, position } = token;
  switch (kind) {
    case 'text':
      return { kind, value: text, position };
    case 'number':
      return readNumber(text, position);
    case 'name':
      if (tokens.peek().kind === 'open') return parseFunction(token, tokens);
      if (text === 'null') return { kind: 'null', position };
      if (text === 'true' || text === 'false') return { kind: 'bool', value: text === 'true', position };
      return { kind: 'path', ...readPath(text, position), position };
    case 'macro':
      return readMacro(text, position);
    default:
      throw unexpected(token, 'expected a field or a value');
  }
}

/** `count(path)` or `distance(path, lat, lng)`. */
function parseFunction({ text, position }: Token, tokens: TokenStream): Operand {
  tokens.take();
  const of = tokens.peek();
  if (text === 'count') {
    const path = parseOperand(tokens);
    if (path.kind !== 'path' && path.kind !== 'request') throw errorAt('count takes a path', of.position);
    tokens.expect('close', 'expected )');
    return { kind: 'count', of: path, position };
  }
  if (text !== 'distance') throw errorAt(`unknown function ${text}`, position);
  const path = parseOperand(tokens);
  if (path.kind !== 'path') throw errorAt('distance takes a field', of.position);
  const [lat, lng] = [readDegrees(tokens, 90), readDegrees(tokens, 180)];
  tokens.expect('close', 'expected )');
  return { kind: 'distance', of: path, lat, lng, position };
}

function readDegrees(tokens: TokenStream, most: number): number {
  tokens.expect('comma', 'expected ,');
  const { text, position } = tokens.expect('number', 'expected degrees');
  const degrees = Number(text);
  if (Math.abs(degrees) > most) throw errorAt(`must be from -${most} to ${most} degrees`, position);
  return degrees;
}

function readNumber(digits: string, position: number): Operand {
  if (!Number.isFinite(Number(digits))) throw errorAt('the number is too large', position);
  return { kind: 'number', digits, position };
}

function readMacro(text: string, position: number): Moment | RequestPath | OwnerPath {
  const [, name, amount, unit = ''] = /^@([A-Za-z]+)(?:([+-][0-9]+)([A-Za-z]))?$/.exec(text) ?? [];
  const moment = moments.find((known) => known === name);
  if (moment)
    return { kind: 'moment', name: moment, shiftSec: amount ? readShift(amount, unit, position) : 0, position };
  if (text.startsWith(ownerPrefix))
    return { kind: 'owner', ...readPath(text.slice(ownerPrefix.length), position), position };
  if (!text.startsWith(requestPrefix)) throw errorAt(`unknown ${text}`, position);
  return { kind: 'request', ...readPath(text.slice(requestPrefix.length), position), position };
}

function readShift(amount: string, unit: string, position: number): number {
  const seconds = secondsOf[unit];
  if (seconds === undefined) throw errorAt(`unknown time unit ${unit}`, position);
  const shiftSec = Number(amount) * seconds;
  if (Math.abs(shiftSec) > limits.shiftSec) throw errorAt('the shift is too large', position);
  return shiftSec;
}

function readPath(text: string, position: number): Pick<Path, 'segments'> & { modifier?: Modifier } {
  const [path = '', written] = text.split(':');
  const segments = path.split('.');
  if (written === undefined) return { segments };
  const modifier = modifiers.find((name) => name === written);
  if (!modifier) throw errorAt(`unknown modifier :${written}`, position);
  return { segments, modifier };
}
