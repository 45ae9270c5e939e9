import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { AdminOptions } from './set-password.ts';

/** `admin create` and `admin reset`. */
export function addAdminCommands(program: Command): void {
  const admin = program.command('admin').description("create an admin, or reset an admin's password");
  const add = (name: 'create' | 'reset', description: string) =>
    admin
      .command(name)
      .description(description)
      .argument('<email>', 'address of the admin')
      .option('--password-stdin', 'read the password from the first line of standard input')
      .option('--json', 'write the result as JSON')
      .addHelpText('after', passwordHelp)
      .action((email: string, options: AdminOptions) =>
        loadAndRun(`admin ${name}`, options, async (parts) => {
          const { createAdmin, resetAdmin } = await import('./set-password.ts');
          return (name === 'create' ? createAdmin : resetAdmin)(parts, email, options);
        }),
      );
  add('create', 'create an admin');
  add('reset', 'set a new password: all tokens and sessions end, and so does a lockout of the address');
}

const passwordHelp = `
A terminal asks for the password. In a script set SERVICE_ADMIN_PASSWORD, or pipe the password:
  recordbus admin create ada@example.com --password-stdin < password.txt`;
