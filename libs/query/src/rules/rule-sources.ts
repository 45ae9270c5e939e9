import type { Collection } from '@recordbus/schema';
import { existsIn, operandsIn, type PlacedOperand } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { outerRecord } from '../resolve/path.ts';
import { type Origin, referencesOf } from './references.ts';

/** What a rule reads in addition to its record. */
export interface RuleSources {
  /** The collections of other records that it reads, its own included if it reads others there. */
  readonly collections: readonly Collection[];
  readonly readsTime: boolean;
  readonly readsRequest: boolean;
}

/** Finds what a rule reads in addition to its record. Throws QueryError for a text that does not parse. */
export function findSources(rule: string, origin: Origin): RuleSources {
  const expression = parse(rule);
  const operands = operandsIn(expression);
  const named = existsIn(expression).flatMap(({ collection }) => origin.schema.findCollection(collection) ?? []);
  const reached = operands.flatMap((placed) => othersIn(placed, origin));
  return {
    collections: [...new Set([...named, ...reached])],
    readsTime: operands.some(({ operand }) => operand.kind === 'moment'),
    readsRequest: operands.some(({ operand }) => operand.kind === 'request'),
  };
}

/** The collections of records, other than the rule's own record, whose values an operand reads. */
export function othersIn(placed: PlacedOperand, origin: Origin): Collection[] {
  const references = referencesOf(placed, origin);
  // A path that begins at the rule's record begins with its member.
  return references.slice(beginsAtRecord(placed) ? 1 : 0).map(({ collection }) => collection);
}

/** Within `exists`, each `record` leads one level outwards. */
const beginsAtRecord = ({ operand, within }: PlacedOperand): boolean =>
  operand.kind === 'path' && within.every((_, index) => operand.segments[index] === outerRecord);
