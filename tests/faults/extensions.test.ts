import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { logLines } from '../harness/logs.ts';
import { onOneProcess, stackEnvironment } from '../harness/target.ts';

stackEnvironment.SERVICE_EXTENSIONS_DIR = fileURLToPath(new URL('../extensions/faulty', import.meta.url));

onOneProcess('code of an extension that goes wrong hurts its own call', async (t, target) => {
  const get = (path: string) => target.guest.get(`/api/x/faulty/${path}`);
  const named = (path: string) =>
    logLines(target.logLines).filter(({ extension, level }) => extension === 'faulty' && level === 'error').length >
      0 || assert.fail(`no error in the log names the extension of ${path}`);

  await t.test('one that does not load is named in the log, and the others are there', async () => {
    assert.equal((await get('well')).status, 200);
    const [line] = logLines(target.logLines).filter(({ extension }) => extension === 'never-loads');
    assert.match(String(line?.problem ?? line?.reason), /did not load within 5000 ms/);
  });

  for (const [path, status, code] of [
    ['loops', 504, 'extension_timeout'],
    ['hangs', 504, 'extension_timeout'],
    ['eats', 500, 'extension_failed'],
    ['eats-at-once', 500, 'extension_failed'],
    ['throws', 500, 'extension_failed'],
    ['rejects-later', 500, 'extension_failed'],
    ['exits', 500, 'extension_failed'],
    ['circular', 500, 'extension_failed'],
  ] as const) {
    await t.test(`${status}: a route that ${path}`, async () => {
      const answer = await get(path);
      assert.equal(answer.status, status, answer.text);
      assert.equal(at(answer.json, 'code'), code);
      assert.doesNotMatch(answer.text, /secret|\.ts/);
      await eventually('its line in the log', () => named(path));
      assert.equal((await get('well')).status, 200);
    });
  }

  await t.test('other calls are answered while one loops', async () => {
    const [loop, ...others] = await Promise.all([
      get('loops'),
      get('well'),
      get('well'),
      target.guest.get('/api/v1/health'),
    ]);
    assert.equal(loop.status, 504);
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200],
    );
  });

  const admin = await target.admin();
  const fields = [{ name: 'note', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'faulty_orders', type: 'base', fields });
  const create = (note: string) => target.guest.send('POST', '/api/v1/faulty_orders', { body: { note } });
  const notes = async () =>
    listAt((await admin.get('/api/v1/faulty_orders?perPage=100')).json, 'data').map(({ note }) => note);

  for (const [note, status] of [
    ['throws', 500],
    ['loops', 504],
    ['runs in circles', 500],
  ] as const) {
    await t.test(`${status}: a before hook that ${note} leaves nothing behind`, async () => {
      const answer = await create(note);
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(await notes(), []);
    });
  }

  await t.test('work that a hook does not wait for is a part of the write all the same', async () => {
    assert.equal((await create('leaves work behind')).status, 201);
    assert.equal((await create('fine')).status, 201);
    assert.deepEqual(new Set(await notes()), new Set(['leaves work behind', 'left behind', 'fine']));
  });
  await admin.delete('/api/v1/collections/faulty_orders');
});
