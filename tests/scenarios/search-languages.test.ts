import assert from 'node:assert/strict';
import { at, listAt } from '../harness/json.ts';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { imported, linesOf } from './import-jobs.ts';

onOneProcess('a search in several languages', async (t, target) => {
  const admin = await target.admin();
  const makeIndexed = async (name: string, language: unknown) => {
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'body', type: 'text' },
      { name: 'lang', type: 'select', options: { values: ['en', 'de', 'ja'] } },
    ];
    await admin.post('/api/v1/collections', { name, type: 'base', fields, list_rule: null });
    const index = { name: 'words', type: 'search', fields: [{ field: 'title' }, { field: 'body' }], language };
    await admin.post(`/api/v1/admin/collections/${name}/indexes`, { ...index, prefix: false, typos: false });
    const isReady = async () => (await admin.get(`/api/v1/${name}?search=x`)).status === 200;
    await eventuallyOnEveryReplica('the index is ready', isReady);
  };
  const finds = async (collection: string, search: string, more = ''): Promise<unknown[]> => {
    const path = `/api/v1/${collection}?search=${encodeURIComponent(search)}&sort=title${more}`;
    const { status, json, text } = await target.guest.get(path);
    assert.equal(status, 200, text);
    return listAt(json, 'data').map(({ title }) => title);
  };

  await t.test('each record has its own, which may change [search §1.3]', async () => {
    await makeIndexed('mixed', { field: 'lang' });
    const english = await admin.create('mixed', { title: 'Houses', lang: 'en' });
    await admin.create('mixed', { title: 'Häuser', lang: 'de' });
    await admin.create('mixed', { title: '東京都', lang: 'ja' });
    await admin.create('mixed', { title: 'Buildings' });
    assert.deepEqual(await finds('mixed', 'house'), ['Houses']);
    assert.deepEqual(await finds('mixed', 'Haus'), ['Häuser']);
    assert.deepEqual(await finds('mixed', '京'), ['東京都']);
    assert.deepEqual(await finds('mixed', 'building'), []);
    assert.deepEqual(await finds('mixed', 'buildings'), ['Buildings']);
    await admin.patch(`/api/v1/mixed/${english.id}`, { lang: 'ja' });
    assert.deepEqual([await finds('mixed', 'house'), await finds('mixed', 'houses')], [[], ['Houses']]);
  });

  await t.test('in scripts without spaces, letters are words and words phrases [search §1.3, §2.2]', async () => {
    await makeIndexed('asian', 'cjk');
    await admin.create('asian', { title: '京都大学', body: '都の東' });
    await admin.create('asian', { title: '東', body: '京' });
    await admin.create('asian', { title: '한국어 museum', body: 'ＴＯＫＹＯ タワー' });
    assert.deepEqual(await finds('asian', '京'), ['京都大学', '東']);
    assert.deepEqual(await finds('asian', '京都'), ['京都大学']);
    assert.deepEqual(await finds('asian', '都京'), []);
    assert.deepEqual(await finds('asian', '東京'), [], 'a phrase within one field');
    assert.deepEqual(await finds('asian', '東 京'), ['京都大学', '東']);
    assert.deepEqual(await finds('asian', '東 -大'), ['東']);
    assert.deepEqual(await finds('asian', '국'), ['한국어 museum']);
    assert.deepEqual(await finds('asian', 'tokyo'), ['한국어 museum']);
    assert.deepEqual(await finds('asian', '京', '&searchFields=body'), ['東']);
  });

  await t.test('members that only answers have are ignored in bodies [search §3.1, §5.1]', async () => {
    const members = { title: 'x', _score: 1, _highlight: { title: 'y' } };
    const made = await admin.create('asian', members);
    await admin.patch(`/api/v1/asian/${made.id}`, { _score: 2, _highlight: {} });
    await admin.send('PUT', `/api/v1/asian/${made.id}`, { body: members });
    const { json } = await admin.get(`/api/v1/asian/${made.id}`);
    assert.deepEqual(
      [at(json, 'data.title'), at(json, 'data._score'), at(json, 'data._highlight')],
      ['x', undefined, undefined],
    );
  });

  await t.test('of many matches the newest are ranked and counted [search §3.2, §4.1]', async () => {
    const rows = Array.from({ length: 10_001 }, (_, n) => ({ title: 'common', lang: n % 2 ? 'en' : 'de' }));
    await imported(admin, 'asian', { format: 'ndjson' }, linesOf([...rows, { title: 'common common rare' }]));
    const read = async (search: string) =>
      (await admin.get(`/api/v1/asian?search=${search}&facets=lang&fields=title&perPage=1&page=10002`)).json;
    const many = await read('common');
    assert.deepEqual([at(many, 'totalItems'), at(many, 'ranked'), at(many, 'more')], [10_002, 10_000, ['lang']]);
    assert.equal(listAt(many, 'data').length, 1);
    const few = await read('rare');
    assert.deepEqual([at(few, 'totalItems'), at(few, 'ranked'), at(few, 'more')], [1, undefined, []]);
  });
});
