import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { at } from './harness/json.ts';
import { createGround, startStack, usualEnvironment } from './harness/stacks/stack.ts';
import { topologiesOrInCi } from './harness/stacks/target.ts';

/** Source for an extension whose route answers with the word, and whose hook writes it. */
const extensionOf = (word: string): string => `
  import { defineExtension, route } from '@recordbus/extensions';
  export const extension = defineExtension({
    hooks: { notes: { beforeCreate({ values }) { values.text = '${word}'; } } },
    routes: [route({ method: 'GET', path: '/word', access: 'public', handler: () => '${word}' })],
  });`;

for (const topology of topologiesOrInCi('one'))
  test(`extensions in a directory that is created after the start are loaded (${topology}) [extensions §1.1]`, async (t) => {
    await using ground = await createGround();
    await using stack = await startStack({ topology, ground, environment: usualEnvironment });
    const { guest } = stack;
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'text', type: 'text' }] });
    const directory = join(ground.dataDirectory, 'extensions');
    const answers = (word: string) =>
      eventually(`the route answers ${word}`, async () => at((await guest.get('/api/x/word')).json, 'data') === word);
    const written = async () => at((await guest.send('POST', '/api/v1/notes', { body: {} })).json, 'data.text');

    await t.test('there are no extensions before', async () => {
      assert.equal((await guest.get('/api/x/word')).status, 404);
      assert.equal(await written(), null);
    });

    await t.test('a file that is created right after the directory is loaded', async () => {
      mkdirSync(directory);
      writeFileSync(join(directory, 'word.ts'), extensionOf('first'));
      await answers('first');
      assert.equal(await written(), 'first');
    });

    await t.test('a changed file is loaded again', async () => {
      writeFileSync(join(directory, 'word.ts'), extensionOf('second'));
      await answers('second');
      assert.equal(await written(), 'second');
    });
  });
