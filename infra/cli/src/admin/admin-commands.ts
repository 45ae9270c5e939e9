import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { AdminOptions } from './set-password.ts';

/** `admin create` and `admin reset`. */
export function addAdminCommands(program: Command): void {
  const admin = program.command('admin').description('make an admin, or give one another password');
  const add = (name: 'create' | 'reset', description: string) =>
    admin
      .command(name)
      .description(description)
      .argument('<email>', 'address of the admin')
      .option('--password-stdin', 'read the password from the first line of standard input')
      .option('--json', 'write the outcome as JSON')
      .addHelpText('after', passwordHelp)
      .action((email: string, options: AdminOptions) =>
        loadAndRun(`admin ${name}`, options, async (parts) => {
          const { createAdmin, resetAdmin } = await import('./set-password.ts');
          return (name === 'create' ? createAdmin : resetAdmin)(parts, email, options);
        }),
      );
  add('create', 'make an admin');
  add('reset', 'give an admin another password: all tokens and sessions end, and a lockout of the address too');
}

const passwordHelp = `
The password is asked for at a terminal. In a script put it into SERVICE_ADMIN_PASSWORD, or pipe it:
  recordbus admin create ada@example.com --password-stdin < password.txt`;
