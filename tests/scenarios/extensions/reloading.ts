import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt } from '../../harness/json.ts';
import { logLines } from '../../harness/logs.ts';
import type { Target } from '../../harness/target.ts';

/** An extension with one of everything, which says a word, and how often it was told of updates if it is. */
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
      { method: 'GET', path: '/late/told', access: 'public', handler: (_request, { kv }) => kv.get('told') },
    ],
    crons: [{ name: 'tick', schedule: '${schedule}', handler: () => {} }],
  });
`;
const timeoutMs = 30_000;

/** What is added to the directory, changed in it and removed from it counts while the product runs. */
export async function reloading(t: TestContext, target: Target, directory: string): Promise<void> {
  const admin = await target.admin();
  const fields = [{ name: 'word', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'late_items', type: 'base', fields });
  await admin.post('/api/v1/collections', { name: 'late_members', type: 'auth' });
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  /** What the route, the cron and the hooks are now, null for what is not there; what is asked most costs least. */
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
  const told = (extension: string) =>
    logLines(target.logLines.slice(begunAt)).filter((line) => line.extension === extension && line.problem);

  await t.test('a file that is added', async () => {
    write('_word.ts', `export const word = 'one';`);
    write('late.ts', source('/late/first', '0 1 * * *'));
    await becomes('/late/first', 'one', '0 1 * * *');
  });
  await t.test('a file that is changed', async () => {
    write('late.ts', source('/late/second', '0 2 * * *'));
    await becomes('/late/second', 'one', '0 2 * * *');
    assert.equal((await target.guest.get('/api/x/late/first')).status, 404);
  });
  await t.test('a hook that is added beside the one of that file', async () => {
    write(
      'late.ts',
      source('/late/hooked', '0 2 * * *', `async afterUpdate(_event, { kv }) { await kv.increment('told'); },`),
    );
    await becomes('/late/hooked', 'one', '0 2 * * *');
    const { id } = await admin.create('late_items', {});
    await admin.patch(`/api/v1/late_items/${id}`, { word: 'told' });
    const told = async () => Number(at((await target.guest.get('/api/x/late/told')).json, 'data')) > 0;
    await eventually('the hook is told', told, { timeoutMs });
    write('late.ts', source('/late/second', '0 2 * * *'));
  });
  await t.test('a file that another one imports', async () => {
    write('_word.ts', `export const word = 'three';`);
    await becomes('/late/second', 'three', '0 2 * * *');
  });
  await t.test('a file that is broken is named in the log, and what it was goes on', async () => {
    write('late.ts', 'export const extension = {');
    const line = await eventually('it is named', () => told('late').at(-1), { timeoutMs });
    assert.match(String(line.problem), /SyntaxError/);
    assert.equal(line.level, 'error');
    await becomes('/late/second', 'three', '0 2 * * *');
    await others();
  });
  await t.test('a new file that is broken is in the way of no other', async () => {
    write('later.ts', `throw new Error('at top level');`);
    await eventually('it is named', () => told('later').length > 0, { timeoutMs });
    await becomes('/late/second', 'three', '0 2 * * *');
    await others();
  });
  await t.test('a file that is removed', async () => {
    for (const name of ['later.ts', 'late.ts', '_word.ts']) rmSync(join(directory, name));
    await becomes('/late/second', null, null);
    await others();
  });
}
