import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandFailure } from '@recordbus/stack-calls';

interface SecretRequest {
  /** The secret's name: "password". */
  readonly what: string;
  /** The option that selects standard input. */
  readonly flag: string;
  /** Whether the option is set. */
  readonly fromStdin: boolean;
  /** The environment variable's value, and its name. */
  readonly fromEnvironment: string | undefined;
  readonly variable: string;
}

/**
 * Reads a secret from the first line on standard input, from its variable, or from the terminal, where it is typed
 * twice. It is never an argument, because the process list shows arguments. Throws CommandFailure when there is none.
 */
export async function readSecret({ what, flag, fromStdin, fromEnvironment, variable }: SecretRequest): Promise<string> {
  if (fromStdin) return required(what, (await text(process.stdin)).split(/\r?\n/, 1)[0]);
  if (fromEnvironment !== undefined) return fromEnvironment;
  if (!process.stdin.isTTY)
    throw new CommandFailure(`The ${what} is missing: give it on standard input with ${flag}, or in ${variable}.`);
  const first = required(what, await askHidden(`${capitalize(what)}: `));
  if ((await askHidden(`${capitalize(what)} again: `)) !== first) throw new CommandFailure('The two entries differ.');
  return first;
}

function required(what: string, given: string | undefined): string {
  if (!given) throw new CommandFailure(`The ${what} is empty.`);
  return given;
}

const capitalize = (what: string): string => `${what.charAt(0).toUpperCase()}${what.slice(1)}`;

/** Prompts at the terminal without echo. */
async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // The reader consumes Ctrl-C, so the signal is sent again.
  reader.once('SIGINT', () => {
    process.stderr.write('\n');
    process.kill(process.pid, 'SIGINT');
  });
  process.stderr.write(question);
  try {
    return await reader.question('');
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}
