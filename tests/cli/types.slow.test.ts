import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { createStrictProject } from '../harness/docs/strict-project.ts';
import { textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { createGround, environmentOf, firstAdmin, repository, startStack } from '../harness/stacks/stack.ts';
import { everyField, extension, typedExtension, usage } from './typed-sources.ts';

suite('recordbus types', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-types-'));
  tidying.defer(async () => rmSync(directory, { recursive: true }));
  const [extensions, project] = [join(directory, 'extensions'), join(directory, 'project')];
  mkdirSync(extensions);
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  const strict = createStrictProject(project);
  writeFileSync(join(extensions, 'lending.ts'), extension);

  const ground = tidying.use(await createGround());
  const environment = { SERVICE_EXTENSIONS_DIR: extensions };
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const admin = await stack.admin();
  const key = textAt((await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin })).json, 'data.token');
  const file = join(project, 'recordbus.d.ts');
  const types = (...args: string[]) =>
    runCli(['types', file, ...args, '--url', stack.url], { environment: { SERVICE_KEY: key } });

  test('write what compiles, and refuse what must not', async () => {
    await admin.post('/api/v1/collections', { name: 'people', type: 'auth', fields: [{ name: 'nick', type: 'text' }] });
    await admin.post('/api/v1/collections', { name: 'class', type: 'base', fields: everyField });
    for (const name of ['class_create', 'Blob', 'my_books', 'myBooks'])
      await admin.post('/api/v1/collections', { name, type: 'base', fields: [] });
    await admin.post('/api/v1/collections', {
      name: 'class_names',
      type: 'view',
      view_query: 'select id, class from class',
    });
    const { code, stderr } = await types();
    assert.equal(code, 0, stderr);
    strict.write('usage.ts', usage);
    strict.write('typed-extension.ts', typedExtension);
    await strict.compile('usage.ts', 'typed-extension.ts');
  });

  test('are the same from the database, except for extension routes', async () => {
    const { code, stdout, stderr } = await runCli(['types'], { environment: environmentOf(ground) });
    assert.equal(code, 0, stderr);
    assert.equal(stdout.trim(), readFileSync(file, 'utf8').split('/** The extension routes')[0]?.trim());
  });

  test('--check says whether the file is up to date', async () => {
    assert.equal((await types('--check')).code, 0);
    await admin.post('/api/v1/collections/people/fields', { name: 'age', type: 'number' });
    const { code, stderr } = await types('--check');
    assert.equal(code, 1);
    assert.match(stderr, /recordbus\.d\.ts is not up to date/);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /\bage\b/);
    await types();
    assert.equal((await types('--check')).code, 0);
  });

  test('refuse a wrong token and an address without a stack in one sentence', async () => {
    const wrong = await runCli(['types', '--url', stack.url, '--key', 'wrong'], { environment: {} });
    const away = await runCli(['types', '--url', 'http://127.0.0.1:1', '--key', 'x'], { environment: {} });
    const none = await runCli(['types', '--url', stack.url], { environment: {} });
    for (const { code, stderr } of [wrong, away, none]) {
      assert.equal(code, 1);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    }
  });

  test('cost an app with 200 collections with 30 fields each hardly more than untyped records', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `large_${index}`);
    const collections = names.map((name, index) => ({
      name,
      type: 'base',
      fields: Array.from({ length: 30 }, (_, number) =>
        number < 5
          ? {
              name: `rel_${number}`,
              type: 'relation',
              collection: names[(index * 7 + number) % 200],
              options: { multiple: number === 4 },
            }
          : { name: `field_${number}`, type: number % 2 ? 'text' : 'number', required: number % 3 === 0 },
      ),
    }));
    await admin.post('/api/v1/admin/migrations/apply', { snapshot: { version: 1, collections } }, 200);
    assert.equal((await types()).code, 0);
    const app = (schema: string) =>
      [
        "import { createClient } from '@recordbus/client';",
        schema,
        "const client = createClient<Schema>('http://localhost');",
        ...names
          .slice(0, 100)
          .map(
            (name) =>
              `export const of_${name} = () => client.from('${name}').list({ filter: (row) => row.field('field_5').eq('x'), expand: ['rel_1.rel_2.rel_3', 'rel_4'], sort: '-field_6' });`,
          ),
      ].join('\n');
    strict.write('typed.ts', app("import type { Schema } from './recordbus.d.ts';"));
    strict.write('untyped.ts', app("import type { AnySchema as Schema } from '@recordbus/client';"));
    const [usual, typed] = [await strict.compile('untyped.ts'), await strict.compile('typed.ts')];
    assert.ok(usual > 0 && typed < usual * 1.5, `${typed} types instead of ${usual}`);
  });
});
