import { parseArgs } from 'node:util';

export const usage = `Usage: npm run bench -- [options]

  --rows <names>      comma-separated: get, list, signed-in, sign-in, expand, rule, filter, vector, create, update,
                      delete, upload, refresh, batch, cascade, search, extension, beside, webhooks, import,
                      import-pocketbase, export, live; or the start of a row's name, such as list-100k or create-32
                      (default: all)
  --seconds <n>       length of one round on one server (default 2.5)
  --rounds <n>        rounds on each server, in turn (default 3)
  --connections <n>   connections of the load generator (default 50)
  --log-level <name>  log level of the product (default warn: no line per request, like the bare server)
  --profile <dir>     directory for a CPU profile of the product
  --against <dir>     another checkout, installed: compares the rows of requests with it, in turn
  --pocketbase <file> a PocketBase binary: compares the rows that it has too with it, in turn
  --markdown          prints the result in the form of docs/performance.md

BENCH_SEARCH_RECORDS: how many records the search rows have (default 100000)
`;

export interface Options {
  readonly rows: readonly string[];
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly logLevel: string;
  readonly profileDirectory: string | undefined;
  /** The root of the checkout to compare with. */
  readonly against: string | undefined;
  /** The PocketBase binary to compare with. */
  readonly pocketbase: string | undefined;
  readonly markdown: boolean;
}

/** The command line is invalid; the message says why. */
export class UsageError extends Error {}

/** Reads the command line. Returns undefined for --help. Throws UsageError. */
export function readOptions(args: readonly string[]): Options | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  return {
    rows: values.rows.split(',').filter(Boolean),
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    connections: positive('connections', values.connections),
    logLevel: values['log-level'],
    profileDirectory: values.profile,
    against: values.against,
    pocketbase: values.pocketbase,
    markdown: values.markdown,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        rows: { type: 'string', default: '' },
        seconds: { type: 'string', default: '2.5' },
        rounds: { type: 'string', default: '3' },
        connections: { type: 'string', default: '50' },
        'log-level': { type: 'string', default: 'warn' },
        profile: { type: 'string' },
        against: { type: 'string' },
        pocketbase: { type: 'string' },
        markdown: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new UsageError(`--${name} must be a number above 0, not ${text}`);
  return value;
}
