import { AppError } from '@recordbus/errors';
import type { CommandParts } from '../run-command.ts';
import { createFileProblems } from './file-problems.ts';
import type { PlanOptions } from './options.ts';
import { writePlan } from './plan-file.ts';
import { presentPlan } from './present-plan.ts';
import { readDirectory, type SchemaDirectory } from './read-directory.ts';
import { openTarget } from './schema-target.ts';
import { variablesOf } from './variables.ts';

/** The exit code for a plan with changes (schema §7.3). */
const somethingToDo = 2;

/** Plans an apply of the files, and writes the plan if the options name a file. */
export async function plan(parts: CommandParts, directory: string, options: PlanOptions): Promise<number> {
  const { terminal } = parts;
  const files = await readDirectory(directory);
  const target = await openTarget(parts, options);
  const { document: schema } = files;
  const planned = await target
    .plan({ schema, variables: variablesOf(schema) })
    .catch((error: unknown) => refuseByFile(error, files));
  if (options.out !== undefined) await writePlan(options.out, { version: 1, ...planned, schema });
  terminal.report(planned, presentPlan(planned, { target: target.name, file: options.out }));
  return planned.changes.length > 0 ? somethingToDo : 0;
}

/** Throws a plan's refusal with files and lines instead of places. */
function refuseByFile(error: unknown, { locate }: SchemaDirectory): never {
  if (!(error instanceof AppError) || error.status !== 422 || !error.details) throw error;
  const problems = createFileProblems();
  for (const [place, message] of Object.entries(error.details)) {
    const text = String(message);
    const known = place.replace(/^schema\./, '');
    const found = locate(known);
    // Migration problems have the line in the message.
    const [, line, rest] = /^line (\d+): (.*)$/s.exec(text) ?? [];
    if (!found) problems.add(place, undefined, text);
    else if (rest !== undefined) problems.add(found.file, Number(line), rest);
    else problems.add(found.file, found.line, `${known}: ${text}`);
  }
  problems.throwIfAny();
  throw error;
}
