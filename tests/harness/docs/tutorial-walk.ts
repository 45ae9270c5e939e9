import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually, Hopeless } from '../eventually.ts';
import { differences } from '../matching.ts';
import { type Child, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';
import { commitFiles, linkDependencies, withoutGitVariables } from '../processes/fresh-clone.ts';
import { withoutOwnVariables } from '../stacks/stack.ts';
import { expectedOf } from './documented-answer.ts';
import { logName, type Step, type Tutorial } from './tutorial-page.ts';

/** A step's output, and its last command's exit status. */
export interface Output {
  readonly text: string;
  readonly status: number;
}

interface RunOptions {
  /** How long all steps may take, in milliseconds. A step may wait forever for a delivery. */
  readonly patienceMs: number;
  /** More variables for the second terminal. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A tutorial reader, whose first terminal has a clone and runs the stack in it. */
export interface Reader extends AsyncDisposable {
  /** Both terminals' working directory. */
  readonly directory: string;
  readonly clone: string;
  /** Runs the steps in the second terminal. Returns the outputs of those that ended. */
  run(steps: readonly Step[], options: RunOptions): Promise<readonly Output[]>;
}

/** Clones and starts the stack as the tutorial says, with another clone address and another port. */
export async function startReader(tutorial: Tutorial): Promise<Reader> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-tutorial-'));
  const terminals: Child[] = [];
  const open = (commands: string, cwd: string, environment: Readonly<Record<string, string>> = {}): Child => {
    const terminal = openTerminal(commands, cwd, { TMPDIR: directory, ...environment });
    terminals.push(terminal);
    return terminal;
  };
  const close = async (): Promise<void> => {
    for (const terminal of terminals) await closeTerminal(terminal);
    rmSync(directory, { recursive: true });
  };
  try {
    commitFiles(join(directory, 'origin'));
    const address = [/^git clone \S+/m, `git clone '${join(directory, 'origin')}'`] as const;
    const cloning = open(`${replaceAll(tutorial.clone, [address])}\npwd`, directory);
    await cloning.exited;
    const clone = cloning.lines.at(-1) ?? '';
    linkDependencies(clone);
    const port = await findFreePort();
    const stack = open(tutorial.start, clone, { SERVICE_PORT: String(port) });
    const log = join(directory, logName);
    writeFileSync(log, '');
    stack.onLine((line) => appendFileSync(log, `${line}\n`));
    const setupToken = await readSetupToken(stack);
    return {
      directory,
      clone,
      async run(steps, { patienceMs, environment }) {
        const shell = open(await scriptOf(steps, port, setupToken), directory, environment);
        const giveUp = setTimeout(() => endGroup(shell, 'SIGKILL'), patienceMs);
        await shell.exited;
        clearTimeout(giveUp);
        return outputsOf(shell.lines);
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs commands in a shell with a reader's environment: no variables from the test run. */
const openTerminal = (commands: string, cwd: string, environment: Readonly<Record<string, string>>): Child =>
  startChild('sh', ['-c', `exec 2>&1\n${commands}`], {
    detached: true,
    cwd,
    env: {
      ...withoutGitVariables(withoutOwnVariables(process.env)),
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      // Tests send no update checks to the real release host.
      SERVICE_RELEASE_URL: 'http://127.0.0.1:1',
      ...environment,
    },
  });

/** Sends a signal to everything that runs in a terminal. */
function endGroup({ pid }: Child, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The shell and its processes have already ended.
  }
}

/** Ends a terminal's processes like Ctrl-C. */
async function closeTerminal(terminal: Child): Promise<void> {
  endGroup(terminal, 'SIGINT');
  const giveUp = setTimeout(() => endGroup(terminal, 'SIGKILL'), 20_000);
  await terminal.exited;
  clearTimeout(giveUp);
  endGroup(terminal, 'SIGKILL');
}

/** Waits for the banner that `npm start` prints. */
const readSetupToken = (stack: Child): Promise<string> =>
  eventually(
    'npm start prints the set-up token',
    () => {
      if (!stack.isRunning) throw new Hopeless(stack.lines.slice(-20).join('\n'));
      return /#setup=(\S+)/.exec(stack.lines.join('\n'))?.[1];
    },
    { timeoutMs: 120_000 },
  );

/** The steps' commands, with this stack's address and token, and a free port for the receiver. */
async function scriptOf(steps: readonly Step[], port: number, setupToken: string): Promise<string> {
  const receiverPort = await findFreePort();
  const script = steps.map((step) => `${step.commands}\necho "-- end of the step: $? --"`).join('\n');
  return replaceAll(script, [
    [/^URL=http:\/\/localhost:8080$/m, `URL=http://localhost:${port}`],
    [/^SETUP_TOKEN=…$/m, `SETUP_TOKEN=${setupToken}`],
    [/127\.0\.0\.1:9000/, `127.0.0.1:${receiverPort}`],
    [/listen\(9000\)/, `listen(${receiverPort})`],
  ]);
}

function replaceAll(text: string, replaced: readonly (readonly [RegExp, string])[]): string {
  return replaced.reduce((before, [pattern, value]) => {
    assert.match(before, pattern);
    return before.replace(pattern, value);
  }, text);
}

function outputsOf(lines: readonly string[]): readonly Output[] {
  const parts = lines.join('\n').split(/^-- end of the step: (\d+) --$/m);
  return Array.from({ length: (parts.length - 1) / 2 }, (_, index) => ({
    text: (parts[2 * index] ?? '').trim(),
    status: Number(parts[2 * index + 1]),
  }));
}

const isRefusal = (answer: string): boolean => answer.startsWith('{"error"');

/** Asserts that a step succeeded, with the page's answer. */
export function checkStep({ answer }: Step, output: Output | undefined): void {
  assert.ok(output, 'the commands did not end');
  assert.equal(output.status, 0, output.text);
  if (answer === undefined || !isRefusal(answer)) assert.doesNotMatch(output.text, /"error":|Error/);
  if (answer === undefined) return;
  assert.deepEqual(differences(JSON.parse(output.text.split('\n').at(-1) ?? ''), expectedOf(answer)), []);
}
