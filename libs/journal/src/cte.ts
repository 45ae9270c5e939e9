/** A common table expression. */
export interface Cte {
  readonly name: string;
  readonly sql: string;
  /** Whether it is computed once, before CTEs that read it. */
  readonly isMaterialized?: boolean;
}

/** The WITH clause for these CTEs. Undefined ones are left out. */
export const withCtes = (ctes: readonly (Cte | undefined)[]): string =>
  `with ${ctes
    .flatMap((cte) => (cte ? [`${cte.name} as ${cte.isMaterialized ? 'materialized ' : ''}(\n  ${cte.sql}\n)`] : []))
    .join(', ')}`;
