import assert from 'node:assert/strict';
import { file } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, upload } from './file-forms.ts';

const collections = '/api/v1/collections';

onEachTopology('an alias leads to files as the name does [collections §1.7]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  const alias = 'pbc_1234567890';
  await admin.define('photos', [fileField('shot'), fileField('secret', { protected: true })], { alias });
  const photo = await upload(guest, '/api/v1/photos', file('shot', 'a.txt', 'A'), file('secret', 's.txt', 'S'));
  const statusOf = async (collection: string, name: unknown, query = '') =>
    (await guest.get(`/api/files/${collection}/${photo.id}/${String(name)}${query}`)).status;
  const set = (name: string, value: unknown) =>
    admin.send('PATCH', `${collections}/${name}`, { body: { alias: value } });

  await t.test('a download, and the token for a file, take the alias', async () => {
    await eventually('the alias applies', async () => (await statusOf(alias, photo.shot)) === 200);
    assert.equal(await statusOf('photos', photo.shot), 200);
    assert.equal(await statusOf(alias, photo.secret), 401);
    const body = { collection: alias, id: photo.id, filename: photo.secret };
    const token = textAt(await guest.post('/api/v1/files/token', body, 200), 'token');
    assert.equal(await statusOf(alias, photo.secret, `?token=${token}`), 200);
    assert.equal(await statusOf('photos', photo.secret, `?token=${token}`), 200);
    assert.equal(await statusOf('pbc_unknown', photo.shot), 404);
  });

  await t.test('other paths take names only', async () => {
    assert.equal((await guest.get(`/api/v1/${alias}`)).status, 404);
    assert.equal((await admin.get(`${collections}/${alias}`)).status, 404);
  });

  await t.test('an alias is a short plain text that no other collection has', async () => {
    await admin.define('others', []);
    for (const value of [alias, 'photos', 'PHOTOS', '', 'a/b', '../x', 'x'.repeat(64), 5]) {
      const { status, json } = await set('others', value);
      assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['alias']], String(value));
    }
    assert.equal((await set('others', 'abc')).status, 200);
    assert.equal(at((await admin.get(`${collections}/others`)).json, 'data.alias'), 'abc');
    assert.equal((await set('others', null)).status, 200);
    assert.equal(at((await admin.get(`${collections}/others`)).json, 'data.alias'), undefined);
  });

  await t.test("a collection's name wins over another's equal alias", async () => {
    await admin.define(alias, [fileField('shot')]);
    const mine = await upload(guest, `/api/v1/${alias}`, file('shot', 'b.txt', 'B'));
    const { text } = await guest.get(`/api/files/${alias}/${mine.id}/${String(mine.shot)}`);
    assert.equal(text, 'B');
    assert.equal(await statusOf(alias, photo.shot), 404);
    await admin.delete(`${collections}/${alias}`);
    await eventually('the alias leads on', async () => (await statusOf(alias, photo.shot)) === 200);
  });

  await t.test('it stays over a rename, and is in snapshots and schema files', async () => {
    await admin.patch(`${collections}/photos`, { name: 'pictures' });
    await eventually('the new name applies', async () => (await statusOf('pictures', photo.shot)) === 200);
    assert.equal(await statusOf(alias, photo.shot), 200);
    const snapshot = objectAt((await admin.get('/api/v1/admin/migrations/snapshot')).json, 'data');
    const files = objectAt((await admin.get('/api/v1/admin/schema')).json, 'data');
    for (const document of [snapshot, files])
      assert.equal(listAt(document, 'collections').find(({ name }) => name === 'pictures')?.alias, alias);
  });
});
