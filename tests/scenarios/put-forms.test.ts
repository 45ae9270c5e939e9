import assert from 'node:assert/strict';
import { file, multipart, type Part } from '../harness/clients/multipart.ts';
import { objectAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, namesOf } from './file-forms.ts';

onEachTopology('a form with files creates or changes the record', async (t, target) => {
  await (await target.admin()).define('put_papers', [
    fileField('papers', { multiple: true }),
    { name: 'title', type: 'text', required: true },
  ]);
  const path = '/api/v1/put_papers/one';
  const put = (...parts: Part[]) => target.guest.send('PUT', path, multipart(...parts));
  const title = { name: 'title', content: 'x' };
  const bytesOf = async (name: string) => (await target.guest.get(`/api/files/put_papers/one/${name}`)).text;

  await t.test('the files belong to the record', async () => {
    const created = await put(title, file('papers', 'a.txt', 'a'));
    const changed = await put(file('papers', 'b.txt', 'b'));
    assert.deepEqual([created.status, changed.status], [201, 200]);
    const names = namesOf(objectAt(changed.json, 'data'), 'papers');
    assert.deepEqual(await Promise.all(names.map(bytesOf)), ['a', 'b']);
  });

  await t.test("removing a deleted record's files keeps a new record's files", async () => {
    for (let n = 0; n < 5; n += 1) {
      await target.guest.delete(path);
      const created = n % 2 === 0 ? await put(title, file('papers', 'c.txt', `c${n}`)) : await put(title);
      assert.equal(created.status, 201, created.text);
      const added = await put(file('papers', 'd.txt', `d${n}`));
      const names = namesOf(objectAt(added.json, 'data'), 'papers');
      assert.deepEqual(await Promise.all(names.map(bytesOf)), n % 2 === 0 ? [`c${n}`, `d${n}`] : [`d${n}`]);
    }
  });

  await t.test("another record's file name is refused", async () => {
    const body = { title: 'x', papers: ['other_0123456789.txt'] };
    const { status, json } = await target.guest.send('PUT', '/api/v1/put_papers/two', { body });
    assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['papers']]);
  });
});
