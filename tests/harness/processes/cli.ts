import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { programPath } from '../stacks/program.ts';
import { type Child, startChild } from './child.ts';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** A command's parsed standard output with --json. */
  readonly json: unknown;
}

interface CliOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input; empty when not given. */
  readonly input?: string;
}

const entry = programPath('infra/cli/src/main');

/** Returns the given variables without the test run's. */
const withoutOwnVariables = (environment: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SERVICE|OTEL|NODE_TEST)_/.test(name))),
  ...environment,
});

/** Starts a CLI command, for tests that stop it. */
export const startCli = (args: readonly string[], { environment }: CliOptions): Child =>
  startChild(process.execPath, [entry, ...args], { env: withoutOwnVariables(environment) });

/** Runs a CLI command to its end, with the given variables and none from the test run. */
export async function runCli(args: readonly string[], { environment, input = '' }: CliOptions): Promise<CliResult> {
  const child = spawn(process.execPath, [entry, ...args], { env: withoutOwnVariables(environment), stdio: 'pipe' });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
  };
}
