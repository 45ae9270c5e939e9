import type { FieldAccess, Parameters } from '@recordbus/query';
import { type RecordColumn, selectList } from '@recordbus/schema';

/** The members of a record that a statement shows. */
interface ShownRecord {
  /** Columns for the members that the caller may view, at least in records for which a rule holds. */
  readonly columns: readonly RecordColumn[];
  /** What the fields' view rules decide for the caller. */
  readonly view: FieldAccess;
}

interface ShownMembers {
  /** Lateral FROM items, which follow the row: `r` with the members that every record has, then others. */
  readonly from: string;
  /** Members with a rule, as texts, each after a comma; empty if the rule does not hold. */
  readonly conditional: readonly string[];
}

/**
 * Composes the members for the record in a row. Members with the same rule are one text, so it is evaluated once;
 * `conditionOf` returns its SQL.
 */
export function shownMembers(
  { columns, view }: ShownRecord,
  row: string,
  parameters: Pick<Parameters, 'alias'>,
  conditionOf: (rule: string) => string,
): ShownMembers {
  const ruleOf = ({ name }: RecordColumn) => view.conditional.get(name);
  const open = columns.filter((column) => ruleOf(column) === undefined);
  const items = [`cross join lateral (select ${selectList(open, row)}) r`];
  const conditional = [...new Set(view.conditional.values())].flatMap((rule) => {
    const members = columns.filter((column) => ruleOf(column) === rule);
    if (members.length === 0) return [];
    const alias = parameters.alias();
    items.push(`cross join lateral (select ${selectList(members, row)}) ${alias}`);
    // The object's text without its braces.
    const texts = `left(right(row_to_json(${alias}.*)::text, -1), -1)`;
    return [`case when ${conditionOf(rule)} then ',' || ${texts} else '' end`];
  });
  return { from: items.join(' '), conditional };
}

/** The object with the members in `r` and the conditional ones, as SQL. */
export const objectText = (conditional: readonly string[]): string =>
  conditional.length === 0
    ? 'row_to_json(r.*)::text'
    : `left(row_to_json(r.*)::text, -1) || ${conditional.join(' || ')} || '}'`;
