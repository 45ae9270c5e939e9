import { type Column, hasSeveralValues, type ResolvedComparison, type Source } from '../resolve/resolved.ts';
import { callerArray } from './caller-sql.ts';
import type { Places } from './compare-sql.ts';
import { certain, nullable, type Predicate } from './predicate.ts';
import type { SqlTarget } from './sql-target.ts';
import { valueSql } from './value-sql.ts';

/** Holds if the list contains the other side, or one of its values. */
export function listHas({ list: side = 'left', left, right }: ResolvedComparison, places: Places): Predicate {
  const other = side === 'left' ? 'right' : 'left';
  const [list, value] = side === 'left' ? [left, right] : [right, left];
  const [listPlace, place] = [places[side], places[other]];
  const item: Item = { values: valuesSql(value, place), value: () => valueSql(value, 'text', place) };
  if (list.source === 'caller') return nullable(inArray(callerArray(list, 'list', listPlace), item));
  const links = list.source === 'column' && linksOf(list, listPlace);
  if (links) return linkedTo(links, listPlace, item);
  const stored = valueSql(list, 'list', listPlace);
  return nullable(item.values === undefined ? `${stored} ? ${item.value()}` : `${stored} ?| ${item.values}`);
}

/** The searched item: one value, or an array with several. */
interface Item {
  readonly values: string | undefined;
  value(): string;
}

/** The array for several values; undefined for a single one. */
function valuesSql(source: Source, into: SqlTarget): string | undefined {
  if (source.source === 'several') return valueSql(source, 'text', into);
  if (source.source === 'caller' && (source.kind === 'list' || hasSeveralValues(source)))
    return callerArray(source, 'text', into);
  if ((source.source !== 'column' && source.source !== 'request') || source.kind !== 'list') return undefined;
  return `array(select jsonb_array_elements_text(${valueSql(source, 'list', into)}))`;
}

const inArray = (array: string, { value, values }: Item): string =>
  values === undefined ? `${value()} = any(${array})` : `${values} && ${array}`;

/** The link table for a list relation, if the row has links. */
const linksOf = ({ relation, hops, visibleIf }: Column, { isTable }: SqlTarget): string | undefined =>
  isTable && !visibleIf && hops.length === 0 && relation?.link.via === 'list' ? relation.link.table : undefined;

/** Searches the links, whose indexes serve both directions. */
function linkedTo(table: string, { row, parameters }: SqlTarget, { value, values }: Item): Predicate {
  const link = parameters.alias();
  const found = values === undefined ? `${link}.target = ${value()}` : `${link}.target = any(${values})`;
  return certain(`exists (select 1 from ${table} ${link} where ${link}.owner = ${row}.id and ${found})`);
}
