import { parseArgs } from 'node:util';
import { Failure } from './failure.ts';

export const usage = `Usage: npm run demo -- [options]

  --url <url>               the stack; found automatically on this machine
  --email, --password       an admin of the stack (or SERVICE_ADMIN_EMAIL, SERVICE_ADMIN_PASSWORD)
  --setup-token <token>     creates the first admin of a stack on another machine; see the stack's log
  --receiver-host <address> this machine as seen by the stack, when it runs elsewhere (containers)
`;

export interface Options {
  readonly help: boolean;
  readonly url: string | undefined;
  readonly email: string | undefined;
  readonly password: string | undefined;
  readonly setupToken: string | undefined;
  readonly receiverHost: string | undefined;
}

/** Reads the command line. Throws Failure when it is invalid. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parse(args);
  if (values.url !== undefined && !URL.canParse(values.url)) throw new Failure(`--url ${values.url} is not a URL.`);
  if ((values.email === undefined) !== (values.password === undefined))
    throw new Failure('--email needs --password, and the other way round.');
  const fromEnvironment = values.email === undefined && process.env.SERVICE_ADMIN_PASSWORD !== undefined;
  return {
    help: values.help,
    url: values.url && new URL(values.url).origin,
    email: fromEnvironment ? process.env.SERVICE_ADMIN_EMAIL : values.email,
    password: fromEnvironment ? process.env.SERVICE_ADMIN_PASSWORD : values.password,
    setupToken: values['setup-token'],
    receiverHost: values['receiver-host'],
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        url: { type: 'string' },
        email: { type: 'string' },
        password: { type: 'string' },
        'setup-token': { type: 'string' },
        'receiver-host': { type: 'string' },
      },
    });
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}
