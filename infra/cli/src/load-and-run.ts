import type { CommandParts, CommonOptions } from './run-command.ts';

/**
 * Runs a command with all that it needs, which is only loaded now: what a `…-commands.ts` file declares are words, and
 * help comes at once.
 */
export async function loadAndRun(
  name: string,
  options: CommonOptions,
  work: (parts: CommandParts) => Promise<number | undefined>,
): Promise<void> {
  const { runCommand } = await import('./run-command.ts');
  await runCommand(name, options, work);
}
