import { createPasswordRules, type PasswordRules } from '@recordbus/passwords';
import { emailAddress } from '@recordbus/schema';
import { type Command, InvalidArgumentError } from 'commander';
import { type Deployment, openDeployment } from '../deployment/open-deployment.ts';
import { readSecret } from '../read-secret.ts';
import { type CommandParts, type CommonOptions, runCommand } from '../run-command.ts';

interface AdminOptions extends CommonOptions {
  readonly passwordStdin?: boolean;
}

type Work = (deployment: Deployment & { passwords: PasswordRules }, email: string, password: string) => Promise<string>;

/** `admin create` and `admin reset`. */
export function addAdminCommands(program: Command): void {
  const admin = program.command('admin').description('make an admin, or give one another password');

  const add = (name: 'create' | 'reset', description: string, done: string, work: Work) =>
    admin
      .command(name)
      .description(description)
      .argument('<email>', 'address of the admin', readEmail)
      .option('--password-stdin', 'read the password from the first line of standard input')
      .option('--json', 'write the outcome as JSON')
      .addHelpText('after', passwordHelp)
      .action((email: string, options: AdminOptions) =>
        runCommand(`admin ${name}`, options, async (parts) => {
          const password = await readPassword(parts, options);
          const deployment = await openDeployment(parts);
          const id = await work({ ...deployment, passwords: rulesOf(parts, deployment) }, email, password);
          parts.terminal.report({ id, email }, `${email} ${done}`);
        }),
      );

  add('create', 'make an admin', 'is an admin now.', async ({ database, passwords }, email, password) => {
    const { addAdmin } = await import('@recordbus/admin');
    return (await addAdmin(database, passwords, { email, password }, nowSec(), byCommand)).id;
  });
  add(
    'reset',
    'give an admin another password: all tokens and sessions end, and a lockout of the address too',
    'has another password now; older tokens are no good any more.',
    async ({ database, bus, passwords }, email, password) => {
      const [{ resetAdmin }, { liftLockout }] = await Promise.all([
        import('@recordbus/admin'),
        import('@recordbus/auth'),
      ]);
      const { id } = await resetAdmin(database, passwords, { email, password }, nowSec(), byCommand);
      await liftLockout(database.query, { realm: 'admins', email });
      bus.notify('accounts');
      return id;
    },
  );
}

const passwordHelp = `
The password is asked for at a terminal. In a script put it into SERVICE_ADMIN_PASSWORD, or pipe it:
  recordbus admin create ada@example.com --password-stdin < password.txt`;

const readPassword = ({ config }: CommandParts, { passwordStdin = false }: AdminOptions): Promise<string> =>
  readSecret({
    what: 'password',
    flag: '--password-stdin',
    fromStdin: passwordStdin,
    fromEnvironment: config.adminPassword,
    variable: 'SERVICE_ADMIN_PASSWORD',
  });

/** The operator at the command line is no account of the product's. */
const byCommand = { context: 'system', userAgent: 'recordbus cli' } as const;

const nowSec = (): number => Math.floor(Date.now() / 1000);

const rulesOf = ({ config, log }: CommandParts, { settings }: Deployment): PasswordRules =>
  createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl });

function readEmail(given: string): string {
  const result = emailAddress.safeParse(given);
  if (!result.success) throw new InvalidArgumentError(`The address ${result.error.issues[0]?.message}.`);
  return result.data;
}
