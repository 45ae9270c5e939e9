import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textAt } from '../json.ts';
import { type Child, endChild, startChild } from '../processes/child.ts';
import { firstAdmin, repository } from '../stacks/stack.ts';
import type { Target } from '../stacks/target.ts';

/** The blocks in examples/live/README.md, in order. */
interface Blocks {
  readonly variables: string;
  readonly collections: string;
  readonly signUp: string;
  readonly follow: string;
  readonly write: string;
  readonly page: string;
}

/** Who signs up on the page. */
export const ada = { email: 'ada@example.com', password: 'a long password' };

export function readBlocks(): Blocks {
  const page = readFileSync(join(repository, 'examples/live/README.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)\n```$/gms)].map(([, text = '']) => text);
  const [variables = '', collections = '', signUp = '', follow = '', write = '', serve = '', ...others] = blocks;
  assert.deepEqual(others, [], 'the page has a block that no test runs');
  assert.ok(page.includes(ada.email) && page.includes(ada.password));
  return { variables, collections, signUp, follow, write, page: serve };
}

/** Sets a stack up as the page says. Returns its admin's and Ada's tokens. */
export async function setUpExample(
  { admin, guest, url }: Pick<Target, 'admin' | 'guest' | 'url'>,
  blocks: Blocks,
): Promise<{ readonly admin: string; readonly token: string }> {
  await admin();
  const signedIn = await guest.post('/api/v1/admin/login', firstAdmin, 200);
  const token = textAt(signedIn, 'token');
  const commands = [variablesFor(blocks, url, token), blocks.collections, blocks.signUp, 'echo "$TOKEN"'];
  const shell = runInShell(commands.join('\n'));
  const { code } = await shell.exited;
  assert.equal(code, 0, shell.lines.join('\n'));
  assert.doesNotMatch(shell.lines.join('\n'), /"error":/);
  return { admin: token, token: shell.lines.at(-1) ?? '' };
}

/** The page's first block, with this stack's address and token. */
export function variablesFor({ variables }: Blocks, url: string, adminToken: string): string {
  assert.match(variables, /^URL=http:\/\/localhost:8080\nADMIN=…$/m);
  return variables.replace(/^URL=.*$/m, `URL=${url}`).replace(/^ADMIN=.*$/m, `ADMIN=${adminToken}`);
}

/** Runs commands from the page in the repository's root; ends with the test. */
export const runInShell = (commands: string): Child =>
  startChild('sh', ['-c', `exec 2>&1\n${commands}`], {
    detached: true,
    cwd: repository,
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  });

/** Ends a shell with everything that it started. */
export async function endShell(shell: Child): Promise<void> {
  if (shell.isRunning) process.kill(-shell.pid, 'SIGTERM');
  await endChild(shell);
}
