import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { AdminOptions } from './set-password.ts';

/** `admin create`, `admin reset` and `admin reset-second-factor`. */
export function addAdminCommands(program: Command): void {
  const admin = program.command('admin').description("create an admin, or reset an admin's password");
  const add = (name: 'create' | 'reset', description: string) =>
    admin
      .command(name)
      .description(description)
      .argument('<email>', "the admin's address")
      .option('--password-stdin', 'read the password from the first line of standard input')
      .option('--json', 'write the result as JSON')
      .addHelpText('after', passwordHelp)
      .action((email: string, options: AdminOptions) =>
        loadAndRun(`admin ${name}`, options, async (parts) => {
          const { createAdmin, resetAdmin } = await import('./set-password.ts');
          return (name === 'create' ? createAdmin : resetAdmin)(parts, email, options);
        }),
      );
  admin
    .command('reset-second-factor')
    .description("remove an admin's lost authenticator app and recovery codes")
    .argument('<email>', "the admin's address")
    .option('--json', 'write the result as JSON')
    .action((email: string, options: CommonOptions) =>
      loadAndRun('admin reset-second-factor', options, async (parts) =>
        (await import('./reset-second-factor.ts')).resetSecondFactor(parts, email),
      ),
    );
  add('create', 'create an admin');
  add('reset', 'set a new password: all tokens, sessions and lockouts end');
}

const passwordHelp = `
A terminal asks for the password. In a script set SERVICE_ADMIN_PASSWORD, or pipe the password:
  recordbus admin create ada@example.com --password-stdin < password.txt`;
