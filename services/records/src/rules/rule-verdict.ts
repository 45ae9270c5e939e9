import type { Cte } from '@recordbus/journal';

/** What a write's rules decide, in SQL. */
export interface Verdict {
  /** The CTE `verdict`, with one row. */
  readonly cte: Cte | undefined;
  /** A join that removes rows for which a rule does not hold. */
  readonly join: string;
  /** Columns in `verdict v` for the answer, each after a comma: `isAllowed`, and `unwritable` with the field names. */
  readonly columns: string;
}

/** What a verdict consists of. */
export interface VerdictParts {
  /** A condition on the row. */
  readonly rule: string | undefined;
  /** Fields that the caller may not write, by name (text[]); none by default. */
  readonly unwritable?: string | undefined;
}

/**
 * Composes the verdict on the only row in the CTE `row`. Without rules, all parts are empty. For an update the row is
 * locked and current, so the verdict is about the version that is written (rules §3.1).
 */
export function ruleVerdict({ rule, unwritable }: VerdictParts, row = 'old'): Verdict {
  if (rule === undefined && unwritable === undefined) return { cte: undefined, join: '', columns: '' };
  const parts = [
    ...(rule === undefined
      ? []
      : [{ value: `(${rule}) is true as allowed`, holds: 'verdict.allowed', column: 'v.allowed as "isAllowed"' }]),
    ...(unwritable === undefined
      ? []
      : [{ value: `${unwritable} as unwritable`, holds: `verdict.unwritable = '{}'`, column: 'v.unwritable' }]),
  ];
  return {
    cte: {
      name: 'verdict',
      sql: `select ${parts.map(({ value }) => value).join(', ')} from ${row}`,
      isMaterialized: true,
    },
    join: ` join verdict on ${parts.map(({ holds }) => holds).join(' and ')}`,
    columns: parts.map(({ column }) => `, ${column}`).join(''),
  };
}
