import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { skip } from '../../test/test-admin.ts';
import { testCollectionRoutes, text } from '../../test/test-collection-routes.ts';

describe('POST /api/v1/admin/views/preview', { skip }, () => {
  const { call, rows, create, assertRefused, schemaVersion } = testCollectionRoutes();
  const preview = (view_query: string) => call('POST', '/api/v1/admin/views/preview', { view_query });

  test('answers the fields and the first rows, cuts long values, and creates nothing', async () => {
    await create('posts', [text('title'), { name: 'extra', type: 'json' }, { name: 'stars', type: 'number' }]);
    await rows(`insert into records.posts (id, created_at, updated_at, title, extra, stars)
      select n::text, 1, 1, repeat('é', 2000), '{"a": [1]}', n from generate_series(1, 25) n`);
    const before = [await schemaVersion(), await rows("select relname from pg_class where relkind = 'v' order by 1")];
    const { status, body } = await preview('select id, title, extra, stars * 2 as double from posts order by stars');
    assert.equal(status, 200, JSON.stringify(body));
    const { fields, rows: shown } = body.data as { fields: { name: string; type: string }[]; rows: object[] };
    assert.deepEqual(
      fields.map(({ name, type }) => [name, type]),
      [
        ['title', 'text'],
        ['extra', 'json'],
        ['double', 'number'],
      ],
    );
    assert.equal(shown.length, 20);
    assert.deepEqual(shown[0], { id: '1', title: `${'é'.repeat(1000)}…`, extra: { a: [1] }, double: 2 });
    const after = [await schemaVersion(), await rows("select relname from pg_class where relkind = 'v' order by 1")];
    assert.deepEqual(after, before);
  });

  test("refuses an invalid view, with the database's message", async () => {
    await create('posts', [text('title'), text('hidden', { options: { encrypted: true } })]);
    const refused: readonly (readonly [string, RegExp])[] = [
      ['select id, titel from posts', /column "titel" does not exist/],
      ['select title from posts', /must return a column "id"/],
      ['delete from posts', /SELECT/i],
      ['select id from system.admins', /schema/],
      ['select id, hidden from posts', /must not read posts\.hidden/],
      ['select id, pg_sleep(1)::text as a from posts', /must not call/],
      ['select id, 1 / 0 as a from posts', /division by zero/],
      ['', /SELECT|empty|required/i],
      ['\0', /NUL/],
      ['x'.repeat(20_001), /at most/],
    ];
    await rows("insert into records.posts (id, created_at, updated_at) values ('1', 1, 1)");
    for (const [query, words] of refused) {
      const answer = await preview(query);
      assert.equal(answer.status, 422, query.slice(0, 80));
      assert.match(String(answer.body.details?.view_query), words, query.slice(0, 80));
    }
    assertRefused(await call('POST', '/api/v1/admin/views/preview', { view_query: 1 }), 422, {
      view_query: 'must be a string',
    });
  });

  test('a slow query is cut off, and a stranger is refused', async () => {
    await create('posts', [text('title')]);
    await rows(
      'insert into records.posts (id, created_at, updated_at) select n::text, 1, 1 from generate_series(1, 20000) n',
    );
    const answer = await preview('select a.id from posts a, posts b, posts c order by md5(a.id || b.id || c.id)');
    assert.match(String(answer.body.details?.view_query), /took longer than 5 seconds/);
    const guest = { type: 'guest', rejectedToken: false } as const;
    assert.equal((await call('POST', '/api/v1/admin/views/preview', { view_query: 'x' }, guest)).status, 401);
  });
});
