import { spawn } from 'node:child_process';

export type Stage = {
  title: string;
  /** A program on PATH, where the launcher has put node_modules/.bin. */
  command: string;
  args: readonly string[];
  /** Variables in addition to this process's own. */
  environment?: Readonly<Record<string, string>> | undefined;
};

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs one stage under a heading with inherited output, and returns whether it succeeded. A signal ends the whole run.
 */
export async function runStage({ title, command, args, environment }: Stage): Promise<boolean> {
  process.stdout.write(`\n── ${title} ──\n`);
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', ...environment };
  const child = spawn(command, args, { stdio: 'inherit', env });
  const end = (signal: NodeJS.Signals): void => {
    child.once('exit', () => {
      release();
      process.kill(process.pid, signal);
    });
    child.kill(signal);
  };
  const release = (): void => {
    for (const signal of passedOn) process.off(signal, end);
  };
  for (const signal of passedOn) process.once(signal, end);
  child.once('error', reject);
  child.once('exit', (code) => {
    release();
    resolve(code === 0);
  });
  return promise;
}
