import type { FieldAccess, Parameters } from '@recordbus/query';
import { type RecordColumn, selectList } from '@recordbus/schema';

/** The members that a statement shows of a record. */
interface ShownRecord {
  /** The columns of members that the caller may view, at least in records for which a rule holds. */
  readonly columns: readonly RecordColumn[];
  /** The decisions of the fields' view rules for the caller. */
  readonly view: FieldAccess;
}

interface ShownMembers {
  /** Lateral items of FROM, which follow the row: `r` with the members that every record has, then others. */
  readonly from: string;
  /** Texts of members with a rule, each after a comma; empty if the rule does not hold. */
  readonly conditional: readonly string[];
}

/**
 * Composes the members of the record in a row. Members with the same rule are one text, so it is evaluated once;
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
    // The text of the object without its braces.
    const texts = `left(right(row_to_json(${alias}.*)::text, -1), -1)`;
    return [`case when ${conditionOf(rule)} then ',' || ${texts} else '' end`];
  });
  return { from: items.join(' '), conditional };
}

/** SQL of the object with the members of `r` and the conditional ones. */
export const objectText = (conditional: readonly string[]): string =>
  conditional.length === 0
    ? 'row_to_json(r.*)::text'
    : `left(row_to_json(r.*)::text, -1) || ${conditional.join(' || ')} || '}'`;
