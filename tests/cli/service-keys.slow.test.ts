import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createGround, environmentOf, startStack } from '../harness/stacks/stack.ts';

suite('service keys on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const environment = environmentOf(ground);
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const cli = (args: readonly string[]) => runCli(args, { environment });

  await test('a key is created before the first admin, and works at once [keys §1.8]', async () => {
    const made = await cli(['keys', 'create', 'deploy', '--scope', 'collections:apply', 'files', '--expires-in', '90']);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^rbk_[a-z0-9]{16}_[\w-]{43}\n$/);
    const key = createClient(stack.url, made.stdout.trim());
    await key.post('/api/v1/collections', { name: 'made', type: 'base', fields: [] });
    assert.equal((await key.get('/api/v1/admin/settings')).status, 403);
  });

  await test('keys are listed without their secrets, and revoked [keys §1.8]', async () => {
    const made = await cli(['keys', 'create', 'brief', '--scope', 'admin', '--cidr', '127.0.0.0/8', '::1', '--json']);
    const key = createClient(stack.url, textAt(made.json, 'key'));
    const listed = await cli(['keys', 'list']);
    assert.match(listed.stdout, /^rbk_[a-z0-9]{16} {2}brief {2}admin {2}no end/m);
    assert.ok(!listed.stdout.includes(textAt(made.json, 'key')));
    assert.equal((await key.get('/api/v1/admin/admins')).status, 200);
    const revoked = await cli(['keys', 'revoke', textAt(made.json, 'prefix')]);
    assert.equal(revoked.code, 0, revoked.stderr);
    await eventually('it is refused', async () => (await key.get('/api/v1/admin/admins')).status === 401);
    assert.equal((await cli(['keys', 'revoke', textAt(made.json, 'id')])).code, 1);
  });

  await test('commands that call a stack take a key from SERVICE_KEY, and never from their arguments [operation §8.7]', async () => {
    const made = await cli(['keys', 'create', 'reader', '--scope', 'collections:read', '--json']);
    const SERVICE_KEY = textAt(made.json, 'key');
    const run = (args: readonly string[], more: Record<string, string> = {}) =>
      runCli([...args, '--url', stack.url], { environment: { ...environment, ...more } });
    const types = await run(['types'], { SERVICE_KEY });
    assert.equal(types.code, 0, types.stderr);
    assert.match(types.stdout, /^export interface Made \{/m);
    const refused = await run(['types'], {
      SERVICE_KEY: `${SERVICE_KEY.slice(0, -1)}${SERVICE_KEY.endsWith('A') ? 'B' : 'A'}`,
    });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /SERVICE_KEY/);
    assert.ok(!refused.stderr.includes(SERVICE_KEY.slice(0, -1)), refused.stderr);
    const plan = await run(['schema', 'pull', mkdtempSync(join(tmpdir(), 'recordbus-pull-'))], { SERVICE_KEY });
    assert.equal(plan.code, 0, plan.stderr);
  });

  await test('wrong arguments are refused [keys §1.8]', async () => {
    for (const args of [
      ['keys', 'create', 'x', '--scope', 'root'],
      ['keys', 'create', 'x', '--scope', 'records:nowhere:read'],
      ['keys', 'create', 'x', '--scope', 'admin', '--expires-in', 'soon'],
      ['keys', 'create', 'x', '--scope', 'admin', '--cidr', 'here'],
    ]) {
      const { code, stderr } = await cli(args);
      assert.equal(code, 1, stderr);
    }
    assert.equal((await cli(['keys', 'create', 'x'])).code, 2);
  });
});
