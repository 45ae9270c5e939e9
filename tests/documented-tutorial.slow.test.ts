import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { startChild } from './harness/child.ts';
import { expectedOf } from './harness/documented.ts';
import { findFreePort } from './harness/free-port.ts';
import { differences } from './harness/matching.ts';
import { firstAdmin, repository } from './harness/stack.ts';
import { onNewStacks, onOneProcess, stackEnvironment } from './harness/target.ts';

onNewStacks('The tutorial creates the first admin.');

const page = readFileSync(join(repository, 'docs/tutorial.md'), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'recordbus-tutorial-'));
after(() => rmSync(directory, { recursive: true }));
/** What the page calls the clone. */
mkdirSync(join(directory, 'recordbus'));

/** The extension of the page. It has no effect on the steps before it. */
const [, extension = ''] = /^```ts\n\/\/ data\/extensions\/tasks\.ts\n(.*?)\n```$/ms.exec(page) ?? [];
writeFileSync(join(directory, 'tasks.ts'), extension);
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;

/** A block of commands, and the JSON that the last line of its output has. */
interface Step {
  readonly commands: string;
  readonly answer: string | undefined;
}

function readSteps(): Step[] {
  const blocks = [...page.matchAll(/^```(sh|json)\n(.*?)\n```$/gms)];
  return blocks.flatMap(([, kind, commands = ''], index) => {
    if (kind !== 'sh') return [];
    const next = blocks[index + 1];
    return [{ commands, answer: next?.[1] === 'json' ? next[2] : undefined }];
  });
}

/** How long the commands may take. One that waits for a delivery would wait forever. */
const patienceMs = 60_000;

const marker = '-- end of the step --';

onOneProcess('the tutorial leads to a task tracker', async (t, { url, setupToken }) => {
  assert.ok(setupToken, 'the stack has no set-up token');
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
  const steps = readSteps();
  const commands = steps.map((step) => `${step.commands}\necho '${marker}'`).join('\n');
  const script = replaced.reduce((text, [pattern, value]) => {
    assert.match(text, pattern);
    return text.replace(pattern, value);
  }, commands);
  const shell = startChild('sh', ['-c', `exec 2>&1\n${script}`], {
    detached: true,
    cwd: directory,
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  });
  t.after(() => {
    try {
      process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // The shell has ended with all that it started.
    }
  });
  const giveUp = setTimeout(() => process.kill(-shell.pid, 'SIGKILL'), patienceMs);
  await shell.exited;
  clearTimeout(giveUp);
  const outputs = shell.lines.join('\n').split(marker);
  for (const [index, { commands, answer }] of steps.entries()) {
    const output = (outputs[index] ?? '').trim();
    const [first = ''] = commands.split('\n');
    await t.test(`docs/tutorial.md: ${first}`, () => {
      if (answer === undefined || !('error' in JSON.parse(answer))) assert.doesNotMatch(output, /"error":|Error/);
      if (answer === undefined) return;
      assert.deepEqual(differences(JSON.parse(output.split('\n').at(-1) ?? ''), expectedOf(answer)), []);
    });
  }
  assert.match(outputs.join('\n'), /Use the blue oil\./);
  assert.match(outputs.join('\n'), /^genuine$/m);
  assert.match(outputs.join('\n'), /^true$/m);
});
