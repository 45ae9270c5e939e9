import { AppError } from '@recordbus/errors';
import { CommandFailure } from '@recordbus/stack-calls';
import type { CommandParts } from '../run-command.ts';
import type { ApplyOptions } from './options.ts';
import { readPlan } from './plan-file.ts';
import { presentChange, quoted } from './present-plan.ts';
import { openTarget } from './schema-target.ts';
import { variablesOf } from './variables.ts';

/** The exit code when the schema has changed since the plan (schema §7.4). */
const moved = 3;

/** Applies a plan, all or nothing. */
export async function apply(parts: CommandParts, file: string, options: ApplyOptions): Promise<number | undefined> {
  const { terminal } = parts;
  const { hash, schema } = await readPlan(file);
  const target = await openTarget(parts, options);
  try {
    const applied = await target.apply({
      schema,
      hash,
      variables: variablesOf(schema),
      allow_drop: options.allowDrop,
    });
    const lines = applied.changes.flatMap(presentChange);
    terminal.report(applied, lines.length > 0 ? ['Applied:', ...lines].join('\n') : 'Nothing to do.');
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'upstream_timeout')
      throw new CommandFailure(
        'The apply takes longer than the gateway waits, and may continue: schema check says when it is done.',
      );
    if (error.code === 'drop_not_allowed') throw withOptions(error);
    if (error.code !== 'schema_moved') throw error;
    terminal.refuse(error.toBody());
    return moved;
  }
}

/** Turns refused drops into a message with the options that allow them. */
function withOptions({ status, code, details = {} }: AppError): AppError {
  const options = Object.keys(details).map((name) => `--allow-drop ${quoted(name)}`);
  return new AppError(status, code, `The apply would drop something. If you want that, add ${options.join(' ')}`, {
    details,
  });
}
