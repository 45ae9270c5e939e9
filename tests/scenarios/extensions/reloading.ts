import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt } from '../../harness/json.ts';
import { logLines } from '../../harness/processes/logs.ts';
import type { Target } from '../../harness/stacks/target.ts';

/** An extension with a hook, a route and a cron of each kind; they answer the imported word. */
const source = (path: string, schedule: string, afterUpdate = ''): string => `
  import { defineExtension, refuse } from '@recordbus/extensions';
  import { word } from './_word.ts';
  export const extension = defineExtension({
    hooks: {
      late_items: {
        beforeCreate: ({ values }) => { values.word = word; },
        afterCreate() {},
        ${afterUpdate}
      },
    },
    signIn: { late_members: { before() { throw refuse(403, word); } } },
    routes: [
      { method: 'GET', path: '${path}', access: 'public', handler: () => word },
      { method: 'GET', path: '/late/updates', access: 'public', handler: (_request, { kv }) => kv.get('updates') },
    ],
    crons: [{ name: 'tick', schedule: '${schedule}', handler: () => {} }],
  });
`;
const timeoutMs = 30_000;

/** Files that are added, changed or removed take effect while the product runs. */
export async function reloading(t: TestContext, target: Target, directory: string): Promise<void> {
  const admin = await target.admin();
  const fields = [{ name: 'word', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'late_items', type: 'base', fields });
  await admin.post('/api/v1/collections', { name: 'late_members', type: 'auth' });
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  /** What the route, the cron and the hooks answer now, null without one. The cheapest is called most often. */
  const seen = {
    async route(path: string) {
      const { status, json } = await target.guest.get(`/api/x${path}`);
      return status === 200 ? at(json, 'data') : null;
    },
    async schedule() {
      const crons = listAt((await admin.get('/api/v1/admin/crons')).json, 'data');
      return crons.find((cron) => cron.name === 'late.tick')?.schedule ?? null;
    },
    hook: async () => (await admin.create('late_items', {})).word,
    async signIn() {
      const { status, json } = await target.guest.send('POST', '/api/v1/auth/late_members/anonymous', { body: {} });
      return status === 403 ? at(json, 'error') : null;
    },
  };
  const becomes = (path: string, word: string | null, schedule: string | null) =>
    eventually(
      `${path} says ${word}, at ${schedule}`,
      async () => {
        assert.equal(await seen.route(path), word);
        assert.equal(await seen.schedule(), schedule);
        assert.equal(await seen.hook(), word);
        assert.equal(await seen.signIn(), word);
        return true;
      },
      { timeoutMs },
    );
  const others = async () => assert.equal((await target.guest.get('/api/x/shop/nothing')).status, 200);
  const begunAt = target.logLines.length;
  const problemsOf = (extension: string) =>
    logLines(target.logLines.slice(begunAt)).filter((line) => line.extension === extension && line.problem);

  await t.test('a new file is loaded [extensions §1.3]', async () => {
    write('_word.ts', `export const word = 'one';`);
    write('late.ts', source('/late/first', '0 1 * * *'));
    await becomes('/late/first', 'one', '0 1 * * *');
  });
  await t.test('a changed file is loaded again [extensions §1.3]', async () => {
    write('late.ts', source('/late/second', '0 2 * * *'));
    await becomes('/late/second', 'one', '0 2 * * *');
    assert.equal((await target.guest.get('/api/x/late/first')).status, 404);
  });
  await t.test('a new hook in a loaded file runs', async () => {
    write(
      'late.ts',
      source('/late/hooked', '0 2 * * *', `async afterUpdate(_event, { kv }) { await kv.increment('updates'); },`),
    );
    await becomes('/late/hooked', 'one', '0 2 * * *');
    const { id } = await admin.create('late_items', {});
    await admin.patch(`/api/v1/late_items/${id}`, { word: 'two' });
    const isCalled = async () => Number(at((await target.guest.get('/api/x/late/updates')).json, 'data')) > 0;
    await eventually('the hook is called', isCalled, { timeoutMs });
    write('late.ts', source('/late/second', '0 2 * * *'));
  });
  await t.test('a changed file is loaded again where another one imports it', async () => {
    write('_word.ts', `export const word = 'three';`);
    await becomes('/late/second', 'three', '0 2 * * *');
  });
  await t.test('a broken file is named in the log, and its last version stays [extensions §1.3]', async () => {
    write('late.ts', 'export const extension = {');
    // Both topologies share the directory: the log may also name files that the other run removed.
    const isNamed = () => problemsOf('late').find(({ problem }) => /SyntaxError/.test(String(problem)));
    const line = await eventually('the log names it', isNamed, { timeoutMs });
    assert.equal(line.level, 'error');
    await becomes('/late/second', 'three', '0 2 * * *');
    await others();
  });
  await t.test('a broken new file affects no other [extensions §1.3]', async () => {
    write('later.ts', `throw new Error('at top level');`);
    await eventually('the log names it', () => problemsOf('later').length > 0, { timeoutMs });
    await becomes('/late/second', 'three', '0 2 * * *');
    await others();
  });
  await t.test('a removed file is unloaded [extensions §1.3]', async () => {
    for (const name of ['later.ts', 'late.ts', '_word.ts']) rmSync(join(directory, name));
    await becomes('/late/second', null, null);
    await others();
  });
}
