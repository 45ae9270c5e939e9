import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandFailure } from './failure.ts';

interface Asked {
  /** What it is called: "password". */
  readonly what: string;
  /** The option that names standard input as its source. */
  readonly flag: string;
  /** Was standard input named as its source? */
  readonly fromStdin: boolean;
  /** The value of its environment variable, and the variable's name. */
  readonly fromEnvironment: string | undefined;
  readonly variable: string;
}

/**
 * Reads a secret from where it was put: the first line of standard input, its variable, else the person at the
 * terminal, twice. An argument would be in the list of processes. Throws a sentence when there is none.
 */
export async function readSecret({ what, flag, fromStdin, fromEnvironment, variable }: Asked): Promise<string> {
  if (fromStdin) return required(what, (await text(process.stdin)).split(/\r?\n/, 1)[0]);
  if (fromEnvironment !== undefined) return fromEnvironment;
  if (!process.stdin.isTTY)
    throw new CommandFailure(`Where is the ${what}? Give it on standard input with ${flag}, or in ${variable}.`);
  const first = required(what, await askHidden(`${capitalised(what)}: `));
  if ((await askHidden(`${capitalised(what)} again: `)) !== first)
    throw new CommandFailure('The two are not the same.');
  return first;
}

function required(what: string, given: string | undefined): string {
  if (!given) throw new CommandFailure(`The ${what} is empty.`);
  return given;
}

const capitalised = (what: string): string => `${what.charAt(0).toUpperCase()}${what.slice(1)}`;

/** Asks at the terminal without showing what is typed. */
async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // The reader takes Ctrl-C for itself.
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
