import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repository } from './stack.ts';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output of a command with --json. */
  readonly json: unknown;
}

interface CliOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input; empty when not given. */
  readonly input?: string;
}

/** Runs one command of the command line to its end, with the given variables and none of the caller's own. */
export async function runCli(args: readonly string[], { environment, input = '' }: CliOptions): Promise<CliResult> {
  const own = Object.entries(process.env).filter(([name]) => !/^(SERVICE|OTEL|NODE_TEST)_/.test(name));
  const child = spawn(process.execPath, [join(repository, 'infra/cli/src/main.ts'), ...args], {
    env: { ...Object.fromEntries(own), ...environment },
    stdio: 'pipe',
  });
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
