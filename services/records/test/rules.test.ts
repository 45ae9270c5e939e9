import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordsFixture, type Sent, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const all = (rule: string) => ({ list: rule, view: rule, create: rule, update: rule, delete: rule });
const relation = (name: string, collection: string) => ({ name, type: 'relation', collection }) as const;

describe('rules and filters', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  const ids = new Map<string, string>();

  before(async () => {
    records = await startRecords([
      testCollection('teams', [{ name: 'name' }], { rules: { ...all(''), view: 'name != "hidden"' } }),
      testCollection('posts', [{ name: 'title' }, { name: 'owner' }, relation('team', 'teams')], {
        rules: all('owner = @request.auth.id'),
      }),
      testCollection('open', [{ name: 'title' }, relation('team', 'teams')]),
      testCollection('broken', [{ name: 'title' }], { rules: all('nothing = 1') }),
      testCollection('parents', [{ name: 'owner' }], { rules: all('owner = @request.auth.id') }),
      testCollection('children', [relation('parent', 'parents')]),
      testCollection('bodies', [{ name: 'title' }, { name: 'state' }], {
        rules: {
          ...all('@request.query.key = "k" && @request.headers.x_key = "h"'),
          update: '@request.body.state:changed = false && @request.method = "PATCH"',
        },
      }),
    ]);
    const make = async (key: string, collection: string, body: object) =>
      ids.set(key, (await records.send('POST', `/api/${collection}`, { as: 'admin', body })).record.id);
    await make('core', 'teams', { name: 'core' });
    await make('hidden', 'teams', { name: 'hidden' });
    await make('mine', 'posts', { title: 'mine', owner: 'u1', team: ids.get('core') });
    await make('other', 'posts', { title: 'other', owner: 'u2', team: ids.get('hidden') });
    await make('nobody', 'posts', { title: 'nobody' });
    await make('a', 'open', { title: 'a', team: ids.get('core') });
    await make('b', 'open', { title: 'b', team: ids.get('hidden') });
    await make('broken', 'broken', { title: 'x' });
    await make('parent', 'parents', { owner: 'u2' });
    await make('own parent', 'parents', { owner: 'u1' });
    await make('body', 'bodies', { title: 'x', state: 'new' });
    await records.takeEvents();
  });
  after(() => records?.stop());

  const lists: [string, Sent['as'], string, string[]][] = [
    ['/api/posts', 'user', '', ['mine']],
    ['/api/posts', 'guest', '', []],
    ['/api/posts', 'admin', 'title != "x"', ['mine', 'nobody', 'other']],
    ['/api/posts', 'user', 'title = "other"', []],
    ['/api/posts', 'user', 'title = "other" || title = "mine"', ['mine']],
    ['/api/open', 'guest', 'team.name = "core"', ['a']],
    ['/api/open', 'guest', 'team.name = "hidden"', []],
    ['/api/open', 'admin', 'team.name = "hidden"', ['b']],
    ['/api/open', 'guest', 'team.name = null', ['b']],
    ['/api/broken', 'user', '', []],
  ];
  for (const [path, as, filter, expected] of lists)
    it(`${path} for ${as} where ${filter || 'anything'}: ${expected}`, async () => {
      for (const page of ['', '&perPage=7', '&skipTotal=1']) {
        const query = `?sort=title&filter=${encodeURIComponent(filter)}${page}`;
        for (const _ of [1, 2]) {
          const { rows, json, text } = await records.send('GET', `${path}${query}`, { as });
          assert.deepEqual(
            rows?.map(({ title }) => title),
            expected,
            text,
          );
          assert.equal(json.totalItems, page === '&skipTotal=1' ? -1 : expected.length);
        }
      }
    });

  it('sorts over relations only by records that the caller may view', async () => {
    const titles = async (as: Sent['as'], sort: string) =>
      (await records.send('GET', `/api/open?sort=${sort}`, { as })).rows.map(({ title }) => title);
    assert.deepEqual(await titles('admin', '-team.name'), ['b', 'a']);
    assert.deepEqual(await titles('guest', 'team.name'), ['a', 'b']);
    assert.deepEqual(await titles('guest', '-team.name'), ['b', 'a']);
  });

  it("names an expression's problem, and its position", async () => {
    const { status, json } = await records.send(
      'GET',
      '/api/open?filter=title%20%3D%20%22a%22%20%26%26%20nope%20%3D%201',
    );
    assert.deepEqual([status, json.error], [400, 'filter: open has no field "nope"']);
    assert.deepEqual(Object.keys(Object(json.details)), ['filter']);
    const request = await records.send('GET', '/api/open?filter=%40request.auth.id%20%3D%201');
    assert.equal(request.status, 400);
  });

  const stale = { 'if-match': '"1"' };
  const keyed = { headers: { 'x-key': 'h' } };
  const calls: [string, string, Sent, number][] = [
    ['GET', 'posts/mine', { as: 'user' }, 200],
    ['GET', 'posts/other', { as: 'user' }, 403],
    ['GET', 'posts/nobody', { as: 'guest' }, 403],
    ['GET', 'posts/mine', { as: 'stranger' }, 401],
    ['GET', 'broken/broken', { as: 'user' }, 403],
    ['GET', 'bodies/body?key=k', keyed, 200],
    ['GET', 'bodies/body?key=j', keyed, 403],
    ['GET', 'bodies/body?key=k', {}, 403],
    ['POST', 'posts', { as: 'user', body: { title: 'new', owner: 'u1' } }, 201],
    ['POST', 'posts', { as: 'user', body: { title: 'new', owner: 'u2' } }, 403],
    ['POST', 'posts', { as: 'guest', body: { title: 'new' } }, 403],
    ['PATCH', 'posts/mine', { as: 'user', body: { title: 'still' } }, 200],
    ['PATCH', 'posts/other', { as: 'user', body: { owner: 'u1' } }, 403],
    ['PATCH', 'posts/other', { as: 'stranger', body: { owner: 'u1' } }, 401],
    ['PATCH', 'posts/other', { as: 'user', body: {}, headers: stale }, 403],
    ['PATCH', 'posts/mine', { as: 'user', body: {}, headers: stale }, 412],
    ['PATCH', 'posts/absent', { as: 'user', body: {}, headers: stale }, 404],
    ['PATCH', 'bodies/body', { body: { state: 'old' } }, 403],
    ['PATCH', 'bodies/body', { body: { state: 'new', title: 'y' } }, 200],
    ['DELETE', 'posts/other', { as: 'user', headers: stale }, 403],
    ['DELETE', 'posts/mine', { as: 'user', headers: stale }, 412],
    ['DELETE', 'posts/absent', { as: 'user' }, 404],
    ['DELETE', 'posts/mine', { as: 'user' }, 200],
    ['DELETE', 'parents/parent', { as: 'user', headers: stale }, 403],
    ['DELETE', 'parents/own parent', { as: 'user', headers: stale }, 412],
    ['DELETE', 'parents/own parent', { as: 'user' }, 200],
  ];
  for (const [method, target, sent, expected] of calls)
    it(`${method} ${target} ${JSON.stringify(sent)}: ${expected}`, async () => {
      const [collection = '', key = '', query = ''] = target.split(/[/?]/);
      const path = `/api/${collection}${key && `/${ids.get(key) ?? 'absent'}`}?${query}`;
      const { status, text } = await records.send(method, path, sent);
      assert.equal(status, expected, text);
      const isWritten = method !== 'GET' && expected < 300;
      assert.equal((await records.takeEvents()).length, isWritten ? 1 : 0);
    });
});
