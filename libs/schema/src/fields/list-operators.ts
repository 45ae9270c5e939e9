import type { JsonSchema } from '@recordbus/http';
import { type ValueReader, ValueRefusal } from '../field-type.ts';
import { findUnknownOperator, type ResultRefusal, type ValueOperators } from '../value-operators.ts';
import { isStorable } from './storable.ts';

const names = ['$append', '$prepend', '$remove'] as const;

/** A list's parsed operators. */
export interface ListOperand {
  readonly append: unknown;
  readonly prepend: unknown;
  readonly remove: unknown;
}

interface ListRules {
  /** A list's JSON Schema. */
  readonly schema: JsonSchema;
  /** Converts a list of new entries to JSON text, as a write of the whole list does. */
  readonly read: ValueReader;
  /** When the resulting list (SQL, jsonb) is refused. */
  readonly refusals?: (list: string) => readonly ResultRefusal[];
}

/**
 * The operators for a list of unique texts: `$remove` removes entries, then `$prepend` and `$append` add those that are
 * not in the list.
 */
export const listOperators = ({ schema, read, refusals = () => [] }: ListRules): ValueOperators => ({
  schemas: Object.fromEntries(names.map((name) => [name, schema])),
  read(operators) {
    const unknown = findUnknownOperator(names, operators);
    if (unknown !== undefined) return new ValueRefusal(unknown);
    const { $append = [], $prepend = [], $remove = [] } = operators;
    for (const added of [$append, $prepend]) {
      const entries = read(added);
      if (entries instanceof ValueRefusal) return entries;
    }
    const isListOfTexts =
      Array.isArray($remove) && $remove.every((entry) => typeof entry === 'string' && isStorable(entry));
    if (!isListOfTexts) return new ValueRefusal('takes a list of entries for $remove');
    return { append: $append, prepend: $prepend, remove: $remove } satisfies ListOperand;
  },
  ofNothing: ({ $append, $prepend }) => [...new Set([listOf($prepend), listOf($append)].flat())],
  inSql: { operandType: 'jsonb', result: changedList, refusals },
});

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * SQL for a list after an operand, `{append, prepend, remove}` in JSON. Entries keep their places. A list without
 * entries that gets none stays unchanged, even if it is null. Entries are compared as bytes: another collation doubles
 * the time for long lists.
 */
export const changedList = (stored: string, operand: string): string => `(select coalesce(
    jsonb_agg(u.entry order by u.part, u.place), case when ${stored} is null then null else '[]'::jsonb end
  ) from (
    select distinct on (e.entry) e.entry, e.part, e.place from (
      select k.entry, 1 as part, k.place, 0 as rank from ${entriesOf(stored)} k
      where k.entry not in (select r.entry from ${entriesOf(`${operand} -> 'remove'`)} r)
      union all
      select p.entry, 0, p.place, 1 from ${entriesOf(`${operand} -> 'prepend'`)} p
      union all
      select a.entry, 2, a.place, 2 from ${entriesOf(`${operand} -> 'append'`)} a
    ) e order by e.entry, e.rank, e.place
  ) u)`;

const entriesOf = (list: string): string =>
  `(select l.entry collate "C" as entry, l.place from jsonb_array_elements_text(${list}) with ordinality l(entry, place))`;
