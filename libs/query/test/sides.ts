import type { Operand } from '../src/language/ast.ts';
import type { Situation } from './evaluator.ts';
import { NoSuchName } from './members.ts';
import { isFixedOfCaller } from './operands.ts';
import { type Ends, endsOf, memberOf } from './path-ends.ts';
import { requestValue } from './request-side.ts';
import { itemsOf, lower, textOf, type Value } from './values.ts';

/** One side's values. */
export interface Sides {
  readonly values: readonly Value[];
  /** Whether the side is a list or a path to several records, which may exist and be empty. */
  readonly isList?: boolean;
  /** Whether the side is a path to several records. */
  readonly isSeveral?: boolean;
  /** Whether the record exists that has the list or leads to the several records. */
  readonly isReached?: boolean;
}

const one = (value: Value): Sides => ({ values: [value] });

/** Evaluates one side of a test. */
export function sidesOf(operand: Operand, situation: Situation): Sides {
  switch (operand.kind) {
    case 'null':
      return one({ value: null, type: undefined, literal: operand });
    case 'text':
    case 'bool':
      return one({ value: operand.value, type: undefined, literal: operand });
    case 'number':
      return one({ value: Number(operand.digits), type: undefined, literal: operand });
    case 'moment':
      return one({ value: momentOf(operand.name) + operand.shiftSec, type: 'date' });
    case 'path':
      return modified(endsOf(operand.segments, situation), operand.modifier);
    case 'count':
      return one({ value: countOf(operand.of, situation), type: 'number' });
    case 'distance':
      return { values: endsOf(operand.of.segments, situation).values.map((it) => distanceOf(it, operand)) };
    case 'request':
      return requestSides(operand, situation);
    case 'owner':
      throw new Error('no expression here has an owner');
  }
}

function requestSides(operand: Extract<Operand, { kind: 'request' }>, situation: Situation): Sides {
  const { segments, modifier } = operand;
  const [part, name = ''] = segments;
  if (part !== 'auth') return one(requestValue(operand, situation));
  const { auth } = situation.request;
  if (isFixedOfCaller(segments)) {
    const value = {
      value: memberOf(auth, name) ?? null,
      type: name === 'verified' ? ('bool' as const) : ('text' as const),
    };
    return modified(one(value), modifier);
  }
  const ends = callerEnds(segments.slice(1), situation);
  if (!ends) return one({ value: null, type: 'text' });
  const sides = modified(ends, modifier);
  return { ...sides, values: sides.values.map((value) => ({ ...value, isCallers: true })) };
}

/** Where a caller path leads; undefined for guests, and for accounts in a collection that lacks a name. */
function callerEnds(segments: readonly string[], situation: Situation): Ends | undefined {
  const caller = callerOf(situation);
  try {
    return caller && endsOf(segments, caller);
  } catch (error) {
    if (error instanceof NoSuchName) return undefined;
    throw error;
  }
}

/** The situation for the caller's own account. */
function callerOf(situation: Situation): Situation | undefined {
  const { world, request } = situation;
  const collection = request.auth?.type === 'user' ? world.collections[request.auth.collection ?? ''] : undefined;
  if (collection?.type !== 'auth') return undefined;
  const record = world.records[collection.name]?.find(({ id }) => id === request.auth?.id);
  return record && { ...situation, collection, record, audience: 'rule', outer: undefined };
}

function modified(sides: Sides, modifier: string | undefined): Sides {
  const change = { lower: lowered, length: lengthOf }[modifier ?? ''];
  if (!change) return sides;
  return { ...sides, isList: sides.isSeveral, values: sides.values.map(change) };
}

/** The text in lower case. */
export function lowered(side: Value): Value {
  const text = textOf(side);
  return { value: text === undefined ? null : lower(text), type: 'text' };
}

function lengthOf(side: Value & { readonly isMissing?: boolean }): Value {
  const { value, type } = side;
  if (type === 'list' && !side.isMissing) return { value: itemsOf(value).length, type: 'number' };
  if (Array.isArray(value)) return { value: value.length, type: 'number' };
  return { value: typeof value === 'string' ? [...value].length : null, type: 'number' };
}

function countOf(operand: Extract<Operand, { kind: 'path' | 'request' }>, situation: Situation): number {
  const { segments } = operand;
  const ends = operand.kind === 'path' ? endsOf(segments, situation) : callerEnds(segments.slice(1), situation);
  const { records, entries } = ends ?? {};
  return records ? new Set(records.map(({ id }) => id)).size : (entries ?? 0);
}

function distanceOf({ value }: Value, { lat, lng }: { readonly lat: number; readonly lng: number }): Value {
  if (value === null) return { value: null, type: 'number' };
  const point = value as { readonly lat: number; readonly lng: number };
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (a: number, b: number) => Math.sin(radians(a - b) / 2) ** 2;
  const h = half(point.lat, lat) + Math.cos(radians(lat)) * Math.cos(radians(point.lat)) * half(point.lng, lng);
  return { value: 2 * 6371.0088 * Math.asin(Math.min(1, Math.sqrt(h))), type: 'number' };
}

function momentOf(name: Extract<Operand, { kind: 'moment' }>['name']): number {
  const now = Math.floor(Date.now() / 1000);
  const date = new Date(now * 1000);
  const startOf = (years: number, months: number) => Date.UTC(date.getUTCFullYear() + years, months, 1) / 1000;
  const month = date.getUTCMonth();
  const today = Math.floor(now / 86_400) * 86_400;
  return {
    now,
    todayStart: today,
    todayEnd: today + 86_399,
    yesterday: now - 86_400,
    tomorrow: now + 86_400,
    monthStart: startOf(0, month),
    monthEnd: startOf(0, month + 1) - 1,
    yearStart: startOf(0, 0),
    yearEnd: startOf(1, 0) - 1,
  }[name];
}
