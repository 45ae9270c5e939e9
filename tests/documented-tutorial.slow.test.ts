import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startChild } from './harness/child.ts';
import { expectedOf } from './harness/documented.ts';
import { findFreePort } from './harness/free-port.ts';
import { differences } from './harness/matching.ts';
import {
  createGround,
  environmentOf,
  firstAdmin,
  type Ground,
  repository,
  type Stack,
  startStack,
  usualEnvironment,
} from './harness/stack.ts';

const page = readFileSync(join(repository, 'docs/tutorial.md'), 'utf8');

/** A block of commands or a file to save, and the JSON that the last line of its output has. */
interface Step {
  readonly commands: string;
  readonly answer: string | undefined;
}

/** The steps of the page in order. */
function readSteps(log: string): Step[] {
  const blocks = [...page.matchAll(/^```(sh|json|ts)\n(.*?)\n```$/gms)];
  return blocks.flatMap(([, kind, text = ''], index) => {
    if (kind === 'json') return [];
    if (kind === 'ts') return [{ commands: savingOf(text, log), answer: undefined }];
    const next = blocks[index + 1];
    return [{ commands: text, answer: next?.[1] === 'json' ? next[2] : undefined }];
  });
}

/** The commands that save an extension under the name in its first line, and wait for the line in the log. */
function savingOf(source: string, log: string): string {
  const [, path, name] = /^\/\/ (data\/extensions\/(\w+)\.ts)\n/.exec(source) ?? [];
  assert.ok(path, 'the first line of the extension names its file');
  assert.ok(page.includes(`Save this as \`${path}\``));
  const line = `"extensions":["${name}"]`;
  assert.ok(page.includes(`a line with \`${line}\` and \`extensions loaded\``));
  const wait = `until grep -F '${line}' '${log}' | grep -q 'extensions loaded'; do sleep 0.1; done`;
  return `cat > ${path} <<'END'\n${source}\nEND\n${wait}`;
}

/** How long the commands may take. One that waits for a delivery would wait forever. */
const patienceMs = 60_000;

const marker = '-- end of the step --';

/** Returns the commands of all steps, for this stack and a free port of the receiver. */
async function scriptOf(steps: readonly Step[], { url, setupToken }: Stack): Promise<string> {
  const port = String(await findFreePort());
  const replaced = [
    [/^URL=\S+/m, `URL=${url}`],
    [/^SETUP_TOKEN=\S+/m, `SETUP_TOKEN=${setupToken}`],
    [
      /"email": "you@example.com", "password": "[^"]*"/,
      `"email": "${firstAdmin.email}", "password": "${firstAdmin.password}"`,
    ],
    [/127\.0\.0\.1:9000/, `127.0.0.1:${port}`],
    [/listen\(9000\)/, `listen(${port})`],
  ] as const;
  const commands = steps.map((step) => `${step.commands}\necho '${marker}'`).join('\n');
  const script = replaced.reduce((text, [pattern, value]) => {
    assert.match(text, pattern);
    return text.replace(pattern, value);
  }, commands);
  return `exec 2>&1\n${script}`;
}

/** Runs the script in a shell, and returns the lines that it printed. */
async function run(t: TestContext, script: string, { directory, ground }: Clone): Promise<readonly string[]> {
  const shell = startChild('sh', ['-c', script], {
    detached: true,
    cwd: directory,
    env: {
      ...process.env,
      ...environmentOf(ground),
      TMPDIR: directory,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    },
  });
  const end = () => {
    try {
      process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // The shell has ended with all that it started.
    }
  };
  t.after(end);
  const giveUp = setTimeout(end, patienceMs);
  await shell.exited;
  clearTimeout(giveUp);
  return shell.lines;
}

/** The directory that has the clone, and what the stack stores in. */
interface Clone {
  readonly directory: string;
  readonly ground: Ground;
}

/** Creates what the page has before the stack runs: the clone, with the commands of npm and the data of the stack. */
function createClone(t: TestContext, ground: Ground): Clone {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-tutorial-'));
  t.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'recordbus'));
  symlinkSync(ground.dataDirectory, join(directory, 'recordbus', 'data'));
  for (const name of ['package.json', 'infra']) symlinkSync(join(repository, name), join(directory, 'recordbus', name));
  return { directory, ground };
}

/** The schema snapshot that the page exports, from the directory that it makes for its files. */
function readSnapshot(directory: string): string {
  const [made = ''] = readdirSync(directory).filter((name) => name.startsWith('tmp.'));
  return readFileSync(join(directory, made, 'tracker.json'), 'utf8');
}

const isRefusal = (answer: string): boolean => answer.startsWith('{"error"');

test('the tutorial leads to a task tracker', async (t) => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'one', ground, environment: usualEnvironment });
  assert.ok(stack.setupToken, 'the stack has no set-up token');
  const clone = createClone(t, ground);
  const log = join(clone.directory, 'log');
  writeFileSync(log, '');
  stack.process.onLine((line) => appendFileSync(log, `${line}\n`));
  const steps = readSteps(log);
  const lines = await run(t, await scriptOf(steps, stack), clone);
  const outputs = lines.join('\n').split(marker);
  for (const [index, { commands, answer }] of steps.entries()) {
    const output = (outputs[index] ?? '').trim();
    const [first = ''] = commands.split('\n');
    await t.test(`docs/tutorial.md: ${first}`, () => {
      if (answer === undefined || !isRefusal(answer)) assert.doesNotMatch(output, /"error":|Error/);
      if (answer === undefined) return;
      assert.deepEqual(differences(JSON.parse(output.split('\n').at(-1) ?? ''), expectedOf(answer)), []);
    });
  }
  assert.match(lines.join('\n'), /Use the blue oil\./);
  assert.match(lines.join('\n'), /^genuine$/m);
  assert.match(readSnapshot(clone.directory), /"name": ?"members"/);
});
