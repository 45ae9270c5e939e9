import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { runCli } from '../harness/processes/cli.ts';
import { programPath } from '../harness/stacks/program.ts';
import { createGround, environmentOf, repository, startStack } from '../harness/stacks/stack.ts';

/** A Linux pipe holds 64 KiB, so each command below has to wait for its reader. */
const pipeBytes = 65_536;
/** How long the reader pauses. On a slow machine this finds less, but fails nothing. */
const pauseSec = 2;

suite('output of the command line in pipes [operation §8.3]', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-piped-'));
  tidying.defer(async () => rmSync(directory, { recursive: true }));
  const ground = tidying.use(await createGround());
  const own = environmentOf(ground);
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const admin = await stack.admin();
  const words = Array.from({ length: 60 }, (_, index) => ({ name: `field_${index}_${'x'.repeat(40)}`, type: 'text' }));
  for (let index = 0; index < 30; index += 1)
    await admin.post('/api/v1/collections', { name: `c${index}`, list_rule: null, fields: words });
  const long = Object.fromEntries(words.map(({ name }) => [name, randomBytes(50).toString('hex')]));
  for (let index = 0; index < 40; index += 1) await admin.create('c0', long);
  for (let index = 0; index < 120; index += 1)
    await admin.post('/api/v1/admin/keys', {
      name: `${index} ${'k'.repeat(90)}`,
      scopes: words.slice(0, 30).map((_, n) => `records:c${n}:read`),
    });
  const environment = own;
  // Another stack's files: every collection is a difference.
  const files = join(directory, 'schema');
  const pulled = await runCli(['schema', 'pull', files], { environment });
  assert.equal(pulled.code, 0, pulled.stderr);
  for (const file of readdirSync(join(files, 'collections'))) {
    const path = join(files, 'collections', file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('field_', 'other_'));
  }

  /** Every command that prints more than a screen. */
  const commands: readonly (readonly string[])[] = [
    ['types'],
    ['snapshot', 'export', '-'],
    ['records', 'export', 'c0', '-'],
    ['backup', 'create', '-'],
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['schema', 'check', files],
    ['schema', 'check', files, '--json'],
  ];
  const program = [process.execPath, programPath('infra/cli/src/main')];
  const npm = ['npm', 'run', '--silent', 'cli', '--'];
  const runs = [
    ...commands.map((args) => [...program, ...args]),
    [...npm, 'types'],
    [...npm, 'snapshot', 'export', '-'],
  ];

  /** Runs a command with a reader after it, in bash. Returns the command's exit code and what the reader wrote. */
  async function pipeInto(reader: string, run: readonly string[]) {
    const script = `"$@" | ${reader}; exit "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', script, 'bash', ...run], {
      cwd: repository,
      env: { ...process.env, ...environment },
    });
    const [output, complaints, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { output, complaints, code };
  }

  for (const run of runs) {
    const name = run
      .slice(run[0] === 'npm' ? 0 : 2)
      .join(' ')
      .replace(files, 'schema');

    await test(`${name}: a reader that pauses gets all of it`, async () => {
      // A command that does not wait for its reader has ended by then.
      const { output, complaints, code } = await pipeInto(`{ sleep ${pauseSec}; base64; }`, run);
      const whole = await runCli(run.slice(run[0] === 'npm' ? npm.length : program.length), { environment });
      assert.equal(code, whole.code, complaints);
      const bytes = Buffer.from(output, 'base64');
      assert.ok(bytes.length > pipeBytes, `only ${bytes.length} bytes`);
      // Two backups differ in their times, but each is whole.
      if (run.includes('backup')) gunzipSync(bytes);
      else assert.equal(bytes.toString('utf8').length, whole.stdout.length);
    });

    await test(`${name}: a reader that goes away ends it, and not with 0`, async () => {
      const { complaints, code } = await pipeInto('head -c 10', run);
      if (code !== 141) assert.deepEqual([code, complaints !== ''], [1, true]);
    });
  }

  await test('a full disk is said', { skip: existsSync('/dev/full') ? false : 'needs /dev/full' }, async () => {
    const script = `exec "$@" > /dev/full`;
    const child = spawn('bash', ['-c', script, 'bash', ...program, 'types'], {
      env: { ...process.env, ...environment },
    });
    const [complaints, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.deepEqual([code, /^The output cannot be written: ENOSPC/.test(complaints)], [1, true], complaints);
  });
});
