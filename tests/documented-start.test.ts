import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from './harness/eventually.ts';
import { startChild } from './harness/processes/child.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { firstAdmin, repository } from './harness/stacks/stack.ts';
import { onNewStacks, onOneProcess } from './harness/stacks/target.ts';

onNewStacks('The README creates the first admin.');

const readme = readFileSync(join(repository, 'README.md'), 'utf8');

/** Returns the README's commands, for this stack and this receiver's port. */
function commandsFor(url: string, setupToken: string, port: number): string {
  const [, section = ''] = readme.split(/To do the same by hand|^The demo creates an admin\./m);
  const commands = [...section.matchAll(/^```sh\n(.*?)\n```$/gms)].map(([, block]) => block).join('\n');
  assert.match(commands, /^URL=/, 'the README has no commands that begin with its address');
  const replaced = [
    [/^URL=\S+/m, `URL=${url}`],
    [/^SETUP_TOKEN=\S+/m, `SETUP_TOKEN=${setupToken}`],
    [/"email":.*"(?=}')/, `"email":"${firstAdmin.email}","password":"${firstAdmin.password}"`],
    [/127\.0\.0\.1:9000/, `127.0.0.1:${port}`],
    [/listen\(9000\)/, `listen(${port})`],
  ] as const;
  return replaced.reduce((text, [pattern, value]) => {
    assert.match(text, pattern);
    return text.replace(pattern, value);
  }, commands);
}

onOneProcess("the README's commands lead to a delivery with a valid signature", async (t, target) => {
  const { url, setupToken } = target;
  assert.ok(setupToken, 'the stack has no set-up token');
  const port = await findFreePort();
  const shell = startChild('sh', ['-c', commandsFor(url, setupToken, port)], {
    detached: true,
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  });
  // The receiver keeps running in the shell's background, in its process group.
  t.after(() => process.kill(-shell.pid, 'SIGKILL'));
  const delivery = await eventually('the receiver shows the delivery', () =>
    shell.lines.find((line) => line.includes('"event":"posts.create"')),
  );
  assert.match(delivery, /genuine \{.*Hello, bus/);
});
