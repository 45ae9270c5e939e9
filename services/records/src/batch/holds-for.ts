import type { VerdictParts } from '../rules/rule-verdict.ts';

/** SQL of whether the rules hold for a row. */
export const holdsFor = ({ rule, unwritable }: VerdictParts): string =>
  [
    ...(rule === undefined ? [] : [`(${rule}) is true`]),
    ...(unwritable === undefined ? [] : [`${unwritable} = '{}'`]),
  ].join(' and ') || 'true';
