import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, suite, test } from 'node:test';
import { at, textAt } from './harness/json.ts';
import { createGround, firstAdmin, repository, startStack } from './harness/stacks/stack.ts';

suite('schema as code', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const root = mkdtempSync(join(tmpdir(), 'documented-schema-'));
  tidying.defer(async () => rmSync(root, { recursive: true }));
  const stack = tidying.use(await startStack({ topology: 'one', ground: tidying.use(await createGround()) }));
  const admin = await stack.admin();
  const answer = await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin });
  const key = textAt(answer.json, 'data.token');

  const write = (folder: string, file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  // Replaces npm, whose commands would run in the clone instead of the reader's directory.
  write(
    root,
    'bin/npm',
    `#!/bin/sh
while [ "$1" != cli ]; do shift; done
shift 2
exec "${process.execPath}" "${join(repository, 'infra/cli/src/main.ts')}" "$@"
`,
  );
  chmodSync(join(root, 'bin/npm'), 0o755);

  /** Runs a shell block as its reader does. */
  function run(script: string, folder: string, more: Record<string, string> = {}) {
    const environment = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, STACK_URL: stack.url, SERVICE_KEY: key };
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
      cwd: folder,
      env: { ...environment, ...more },
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  }

  await test("the guide's steps work in their order", async () => {
    const folder = join(root, 'guide');
    mkdirSync(folder);
    const page = readFileSync(join(repository, 'docs/schema-as-code.md'), 'utf8');
    const blocks = [...page.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)\n```$/gms)];
    assert.ok(blocks.length > 12);
    await admin.post('/api/v1/collections', { name: 'posts', fields: [{ name: 'title', type: 'text' }] });
    let last = { code: null as number | null, stdout: '', stderr: '' };
    for (const [, kind, file, text = ''] of blocks) {
      if (file !== undefined) write(folder, file, `${text}\n`);
      else if (kind === 'sh') {
        // The first pull reads the reader's data directory.
        const script = text.includes('STACK_URL') ? text : `${text} --url "$STACK_URL"`;
        last = run(script, folder);
        const expected = script.includes('schema plan') && !script.includes('schema apply') ? 2 : 0;
        assert.equal(last.code, expected, `${script}\n${last.stdout}${last.stderr}`);
      } else if (kind === 'text') assert.match(last.stdout, patternOf(text));
      else assert.fail(`the block ${kind} runs nowhere`);
    }
    const names = at((await admin.get('/api/v1/collections')).json, 'data');
    assert.deepEqual((names as { name: string }[]).map(({ name }) => name).sort(), ['members', 'posts', 'tags']);
  });

  await test('the GitHub Actions file plans on a pull request, and applies on a merge with the allowed drops', async () => {
    const folder = join(root, 'repository');
    cpSync(join(repository, 'examples/schema'), folder, { recursive: true });
    const { workflow, scripts } = readWorkflow(join(folder, '.github/workflows/schema.yml'));
    assert.match(workflow, /if: github\.event_name == 'push'\n +run:/);
    const [planScript = '', applyScript = ''] = scripts;
    assert.equal(scripts.length, 2);
    const summary = join(root, 'summary.md');
    const variables = { GITHUB_WORKSPACE: folder, RUNNER_TEMP: root, GITHUB_STEP_SUMMARY: summary };
    const step = (script: string) => run(`set -e -o pipefail\n${script}`, folder, variables);

    const planned = step(planScript);
    assert.equal(planned.code, 0, planned.stderr);
    assert.match(readFileSync(summary, 'utf8'), /^```diff\n[^`]*^\+ collection tasks$[^`]*^- collection posts/m);
    assert.equal((await admin.get('/api/v1/collections/tasks')).status, 404, 'a plan changes nothing');

    const refused = step(applyScript);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /posts: would be dropped/);
    writeFileSync(join(folder, 'schema/allow-drop'), 'posts\n\nmembers\ntags');
    const applied = step(applyScript);
    assert.equal(applied.code, 0, applied.stderr);
    assert.equal((await admin.get('/api/v1/collections/tasks')).status, 200);

    const again = step(planScript);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /Nothing to do/);
    assert.equal(step(applyScript).code, 0, 'an apply of nothing is not a failure');

    writeFileSync(join(folder, 'schema/collections/tasks.json'), '{');
    const broken = step(planScript);
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /tasks\.json:1: is not JSON/);
  });
});

/** A page's text as a pattern; `…` stands for the rest of a line. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .split('…')
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
      .join('.*'),
  );

/** Reads a workflow's shell scripts: the blocks below `run: |`. */
function readWorkflow(file: string): { readonly workflow: string; readonly scripts: readonly string[] } {
  const workflow = readFileSync(file, 'utf8');
  const scripts = [...workflow.matchAll(/^( +)run: \|\n((?:\1 {2}.*\n?)+)/gm)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}  `, 'gm'), ''),
  );
  return { workflow, scripts };
}
