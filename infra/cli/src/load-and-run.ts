import type { CommandParts, CommonOptions } from './run-command.ts';

/** Loads what a command needs and runs it. The `…-commands.ts` files import nothing else, so help prints at once. */
export async function loadAndRun(
  name: string,
  options: CommonOptions,
  work: (parts: CommandParts) => Promise<number | undefined>,
): Promise<void> {
  const { runCommand } = await import('./run-command.ts');
  await runCommand(name, options, work);
}
