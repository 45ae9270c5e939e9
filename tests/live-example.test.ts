import assert from 'node:assert/strict';
import { endShell, readBlocks, runInShell, setUpExample, variablesFor } from './harness/docs/live-example.ts';
import { eventually } from './harness/eventually.ts';
import { startCutProxy } from './harness/network/cut-proxy.ts';
import type { Child } from './harness/processes/child.ts';
import { onOneProcess } from './harness/stacks/target.ts';

/** Waits for a line in a terminal, after so many others. */
const printed = (terminal: Child, pattern: RegExp, after = 0): Promise<string> =>
  eventually(`the terminal prints ${pattern}`, () => {
    assert.ok(terminal.isRunning, terminal.lines.join('\n'));
    return terminal.lines.slice(after).find((line) => pattern.test(line));
  });

onOneProcess('the terminal list in examples/live follows its collection, and resumes', async (t, target) => {
  const blocks = readBlocks();
  const { admin, token } = await setUpExample(target, blocks);
  await using network = await startCutProxy(target.url);
  const variablesAt = (url: string) => `${variablesFor(blocks, url, admin)}\nTOKEN=${token}`;
  const terminal = runInShell(`${variablesAt(network.url)}\n${blocks.follow}`);
  t.after(() => endShell(terminal));
  const write = async () => {
    const second = runInShell(`${variablesAt(target.url)}\n${blocks.write}`);
    assert.equal((await second.exited).code, 0);
    assert.match(second.lines.join(''), /"title":"Follow a list"/);
  };

  await printed(terminal, /^snapshot .*: 0 records$/);
  await write();
  assert.match(await printed(terminal, /^create/), /"title":"Follow a list".*: 1 records$/);

  const before = terminal.lines.length;
  network.cut();
  await write();
  network.restore();
  await printed(terminal, /^connected again$/, before);
  await printed(terminal, /^create .*: 2 records$/, before);
  assert.deepEqual(
    terminal.lines.slice(before).filter((line) => line.startsWith('snapshot')),
    [],
  );
});
