import { malformedParameter } from '@recordbus/errors';
import { readExpression } from '../shape/read-expression.ts';
import { type Calculation, parseCalculation } from './calculation.ts';

/** The periods into which dates are grouped. Weeks begin on Monday. */
export const periods = ['day', 'week', 'month', 'year'] as const;
export type Period = (typeof periods)[number];

const functions = ['sum', 'avg', 'min', 'max'] as const;
export type AggregateFunction = (typeof functions)[number];

/** A key by which records are grouped. */
export interface Key {
  readonly name: string;
  readonly path: string;
  readonly period: Period | undefined;
}

/** A value that is computed for each group from a record's calculation; without one, how many records it has. */
export interface Aggregate {
  readonly name: string;
  readonly of: { readonly function: AggregateFunction; readonly text: string; readonly value: Calculation } | undefined;
}

/** An aggregate's keys and values. */
export interface AggregateShape {
  readonly keys: readonly Key[];
  readonly aggregates: readonly Aggregate[];
}

interface AggregateParameters extends Partial<Readonly<Record<AggregateFunction | 'group', string | undefined>>> {
  readonly count: boolean;
}

const most = { keys: 4, aggregates: 8 };

/** Reads an aggregate's keys and values. Throws 400 for too many, for none, and for two with the same name. */
export function readAggregate(parameters: AggregateParameters): AggregateShape {
  const keys = partsOf(parameters.group).map(readKey);
  if (keys.length > most.keys) throw malformedParameter('group', `may have at most ${most.keys} keys`);
  const values = functions.flatMap((name) => partsOf(parameters[name]).map((text) => readValue(name, text)));
  const aggregates: Aggregate[] = [...(parameters.count ? [{ name: 'count', of: undefined }] : []), ...values];
  if (aggregates.length > most.aggregates)
    throw malformedParameter(lastOf(aggregates), `only ${most.aggregates} values can be computed at once`);
  if (keys.length + aggregates.length === 0) throw malformedParameter('group', 'or a value to compute is required');
  const names = new Set<string>();
  for (const { name } of [...keys, ...aggregates]) {
    if (names.has(name)) throw malformedParameter('group', `and the values have two members ${JSON.stringify(name)}`);
    names.add(name);
  }
  return { keys, aggregates };
}

/** A field's member is `sum_price`, a calculation's is its text: `sum(price * amount)`. */
function readValue(name: AggregateFunction, text: string): Aggregate {
  const value = readExpression(name, () => parseCalculation(text));
  const isField = value.kind === 'path' && value.path === text;
  return { name: isField ? nameOf(`${name}.${text}`) : `${name}(${text})`, of: { function: name, text, value } };
}

const partsOf = (text: string | undefined): string[] => text?.split(',').map((part) => part.trim()) ?? [];

const lastOf = (aggregates: readonly Aggregate[]): string => aggregates.at(-1)?.of?.function ?? 'count';

function readKey(text: string): Key {
  const [, word, inner] = /^([a-z]+)\((.*)\)$/.exec(text) ?? [];
  if (word === undefined || inner === undefined) return { name: nameOf(text), path: text, period: undefined };
  const period = periods.find((known) => known === word);
  if (!period) throw malformedParameter('group', `there is no period ${JSON.stringify(word)}`);
  const path = inner.trim();
  return { name: nameOf(`${period}.${path}`), path, period };
}

/** The answer's member: `month(created)` is `month_created`. */
const nameOf = (path: string): string => path.replaceAll('.', '_');
