import type { VerdictParts } from '../rules/rule-verdict.ts';

/** Whether the rules hold for a row, as SQL. */
export const holdsFor = ({ rule, unwritable }: VerdictParts): string =>
  [
    ...(rule === undefined ? [] : [`(${rule}) is true`]),
    ...(unwritable === undefined ? [] : [`${unwritable} = '{}'`]),
  ].join(' and ') || 'true';
