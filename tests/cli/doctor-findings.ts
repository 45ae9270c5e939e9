import { listAt } from '../harness/json.ts';
import type { CliResult } from '../harness/processes/cli.ts';

/** The doctor's verdicts, by subject. */
export const verdictsOf = ({ json }: CliResult): Record<string, unknown> =>
  Object.fromEntries(listAt(json, 'findings').map(({ subject, verdict }) => [String(subject), verdict]));

export const adviceOf = ({ json }: CliResult, subject: string): unknown =>
  listAt(json, 'findings').find((finding) => finding.subject === subject)?.advice;

/** Returns the findings about a subject as rows with verdict, sentence and advice. */
export const foundOf = ({ json }: CliResult, subject: string): unknown[] =>
  listAt(json, 'findings')
    .filter((finding) => finding.subject === subject)
    .map(({ verdict, says, advice }) => [verdict, says, advice]);
