import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Field } from '@recordbus/schema';
import { type Answer, skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';
import { taggedCollectionJson } from '../schema/collection-etag.ts';

const path = '/api/v1/collections';

describe('view collections', { skip }, () => {
  let admin: TestAdmin;
  let count = 0;
  before(async () => {
    admin = await startTestAdmin();
    await make('authors', [{ name: 'name', type: 'text' }]);
    await make('posts', [
      { name: 'title', type: 'text', options: { max: 50, unique: true } },
      { name: 'authorId', type: 'relation', collection: 'authors' },
      { name: 'stars', type: 'number' },
      { name: 'kinds', type: 'select', options: { values: ['a', 'b'], multiple: true } },
      { name: 'meta', type: 'json' },
      { name: 'due', type: 'date' },
    ]);
    await admin.database.query({
      text: `insert into records.posts (id, created_at, updated_at, title, stars)
        values ('p1', 1, 2, 'a', 1), ('p2', 3, 4, 'b', 2)`,
      values: [],
    });
  });
  after(() => admin.stop());

  const make = async (name: string, fields: object[]) => collectionOf(await admin.call('POST', path, { name, fields }));
  const view = (query: unknown, rest: object = {}) => {
    count += 1;
    return admin.call('POST', path, { name: `view${count}`, type: 'view', view_query: query, ...rest });
  };

  function collectionOf({ status, body }: Answer) {
    assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
    const collection = taggedCollectionJson.strict().parse(body.data);
    const fields: Field[] = JSON.parse(collection.fields);
    return { ...collection, fields };
  }

  const typesOf = (fields: readonly Field[]) => Object.fromEntries(fields.map(({ name, type }) => [name, type]));

  test('has the fields that its query selects and those that it computes', async () => {
    const made = collectionOf(
      await view(`select p.id, p.title, p."authorId", p.kinds, p.due, p.created_at, p.updated_at, p.created_at as born,
        count(*) over () as n, sum(p.stars) as stars, avg(1)::numeric as mean, p.meta -> 'a' as a, p.stars > 1 as good,
        now() as "at", array['x'] as list, upper(p.title) as loud, current_date as today
        from posts p group by p.id -- all of them
        ;`),
    );
    assert.deepEqual(typesOf(made.fields), {
      title: 'text',
      authorId: 'relation',
      kinds: 'select',
      due: 'date',
      born: 'date',
      n: 'number',
      stars: 'number',
      mean: 'number',
      a: 'json',
      good: 'bool',
      at: 'date',
      list: 'json',
      loud: 'text',
      today: 'date',
    });
    const [title, author] = made.fields;
    assert.deepEqual([title?.options, author?.collection], [{ max: 50 }, 'authors']);
    assert.deepEqual([made.list_rule, made.view_rule, made.create_rule], ['', '', null]);
    const rows = await admin.database.query({
      text: `select id, n, good from records."${made.name}" order by id`,
      values: [],
    });
    assert.deepEqual(rows, [
      { id: 'p1', n: 2, good: false },
      { id: 'p2', n: 2, good: true },
    ]);
  });

  const refusals: [query: unknown, sentence: RegExp][] = [
    [undefined, /is required/],
    ['', /is required/],
    [null, /is required/],
    ['select', /must return a column "id"/],
    ['selec id from posts', /syntax error/],
    ['select 1 as id; select 2 as id', /must be one SELECT/],
    ['', /is required/],
    ['delete from posts returning id', /must be one SELECT/],
    ['with gone as (delete from posts returning id) select id from gone', /DELETE/],
    ['with a as (insert into posts (id) values (1) returning id) select id from a', /INSERT/],
    ['select id into other from posts', /must not write/],
    ['select id from posts for update', /FOR UPDATE/],
    ['select id from posts where id = $1', /parameters/],
    ['select id from only posts', /ONLY/],
    ['select id from posts tablesample system (1)', /TABLESAMPLE/],
    ['table posts; drop table posts', /must be one SELECT/],
    ['select nope as id from posts', /column "nope" does not exist/],
    ['select id from nowhere', /no collection "nowhere"/],
    ['select id from "Posts"', /no collection "Posts"; write "posts"/],
    ['select title from posts', /"id"/],
    ['select id, count(*) from posts group by title', /must appear in the GROUP BY/],
    ['select id, title as created from posts', /created/],
    ['select id, 1 as "a b" from posts', /a b/],
    ['select id, 1 from posts', /column/],
    ['select id, 1 as a, 2 as "A" from posts', /case/],
    ['select id, title as created_at from posts', /created_at must be a time/],
    ['select 1 as id from posts', /1 rows repeat an id/],
    ['select "authorId" as id from posts', /2 rows without an id/],
    ['select id, 1 / (stars - 1) as x from posts', /division by zero/],
    ['with recursive r as (select 1 as id union all select id + 1 from r) select id from r', /took longer/],
    // These functions can read a file, a setting or a secret, run another query, or wait.
    ["select pg_read_file('/etc/passwd') as id", /pg_read_file/],
    ["select pg_catalog.pg_read_file('/etc/passwd') as id", /pg_read_file/],
    ['select "pg_read_file"(title) as id from posts', /pg_read_file/],
    ["select id from posts, pg_ls_dir('/') f", /pg_ls_dir/],
    ['select id from posts, lateral pg_sleep(9)', /pg_sleep/],
    ['select id from posts order by pg_sleep(9)', /pg_sleep/],
    ["select query_to_xml('select 1', true, true, '') as id", /query_to_xml/],
    ["select dblink('', '') as id", /dblink/],
    ['select lo_import(title) as id from posts', /lo_import/],
    ["select set_config('a.b', 'c', false) as id", /set_config/],
    ["select current_setting('data_directory') as id", /current_setting/],
    ["select p.id from posts p where current_setting('is_superuser') = 'on'", /current_setting/],
    ['select nextval(title) as id from posts', /nextval/],
    ['select random() as id', /random/],
    ['select version() as id', /version/],
    ['select current_user as id', /must not read the user/],
    ['select current_catalog as id', /must not read the user/],
    ["select 'records.posts'::regclass as id", /type regclass/],
    ["select regclass 'posts' as id", /type regclass/],
    ["select cast('x' as xml) as id", /type xml/],
    ['select xmlelement(name a) as id', /XML/],
    ['select id from pg_class', /no collection "pg_class"/],
    ['select id from pg_catalog.pg_class', /without a schema/],
    ['select id from system.admins', /without a schema/],
    ['select id from information_schema.tables', /without a schema/],
    ['select id from admins', /no collection "admins"/],
    // A CTE elsewhere does not allow the catalog under its name.
    [
      'select a.relname as id from pg_authid a where exists (with pg_authid as (select 1) select 1 from pg_authid)',
      /nothing but collections|permission|does not exist/,
    ],
    [
      'select a.rolname as id from pg_authid a where exists (with pg_authid as (select 1) select 1 from pg_authid)',
      /nothing but collections/,
    ],
    ['select row_to_json(p) as id from posts p', /row_to_json/],
    ['select to_jsonb(p) as id from posts p', /whole row/],
    ['select p as id from posts p', /whole row/],
    ['select count(p) as id from posts p', /whole row/],
    ['select ctid as id from posts', /system columns/],
    ["select ('x'::text).current_setting as id", /./],
    ['select id operator(public.=) id as id from posts', /./],
  ];
  for (const [query, sentence] of refusals)
    test(`answers 422 for ${query}`, async () => {
      const { status, body } = await view(query);
      assert.equal(status, 422, JSON.stringify(body));
      assert.deepEqual(Object.keys(body.details ?? {}), ['view_query']);
      assert.match(String(body.details?.view_query), sentence);
    });

  test("follows a renamed collection and its fields' options", async () => {
    const base = await make('things', [
      { name: 'title', type: 'text' },
      { name: 'rank', type: 'number' },
    ]);
    const first = collectionOf(
      await view('select things.id, title, t.rank + 1 as next from things join things t using (id, title)'),
    );
    const second = collectionOf(await view(`select id, title, next from ${first.name}`));
    const [title, rank] = base.fields;
    const change = await admin.call('PATCH', `${path}/things`, {
      name: 'Things2',
      fields: [{ ...title, options: { max: 9 } }, rank, { name: 'more', type: 'bool' }],
    });
    assert.equal(change.status, 200, JSON.stringify(change.body));
    const after = collectionOf(await admin.call('GET', `${path}/${first.name}`));
    assert.equal(
      after.view_query,
      'select things.id, title, t.rank + 1 as next from "Things2" as "things" join "Things2" t using (id, title)',
    );
    for (const { name } of [first, second]) {
      const { fields } = collectionOf(await admin.call('GET', `${path}/${name}`));
      assert.equal(fields.find((field) => field.name === 'title')?.options.max, 9);
      assert.deepEqual(await admin.database.query({ text: `select * from records."${name}"`, values: [] }), []);
    }
    const ids = (fields: readonly Field[]) => fields.map(({ id }) => id);
    assert.deepEqual(ids(after.fields), ids(first.fields));
  });

  test('protects what it reads, with 422 for a field and 409 for a collection, each with its name', async () => {
    const base = await make('needed', [
      { name: 'title', type: 'text' },
      { name: 'kind', type: 'select', options: { values: ['a'] } },
      { name: 'free', type: 'text' },
    ]);
    const first = collectionOf(await view('select id, title, kind from needed'));
    const second = collectionOf(await view(`select id from ${first.name}`));
    const [title, kind, free] = base.fields;
    const refused = async (fields: unknown[], place: string) => {
      const { status, body } = await admin.call('PATCH', `${path}/needed`, { fields });
      assert.equal(status, 422, JSON.stringify(body));
      assert.deepEqual(Object.keys(body.details ?? {}), [place]);
      assert.match(String(body.details?.[place]), new RegExp(`the view ${first.name} reads it`));
    };
    await refused([kind, free], 'fields.title');
    await refused([{ ...title, name: 'label' }, kind, free], 'fields.label.name');
    await refused([title, { ...kind, options: { values: ['a'], multiple: true } }, free], 'fields.kind.options');
    collectionOf(await admin.call('PATCH', `${path}/needed`, { fields: [title, kind] }));
    const dropped = await admin.call('DELETE', `${path}/needed`);
    assert.deepEqual([dropped.status, dropped.body.details], [409, { blockers: [{ collection: first.name }] }]);
    const view1 = await admin.call('DELETE', `${path}/${first.name}`);
    assert.deepEqual([view1.status, view1.body.details], [409, { blockers: [{ collection: second.name }] }]);
    const narrowed = await admin.call('PATCH', `${path}/${second.name}`, {
      view_query: `select id, title from ${first.name}`,
    });
    assert.equal(narrowed.status, 200);
    const without = await admin.call('PATCH', `${path}/${first.name}`, { view_query: 'select id, kind from needed' });
    assert.equal(without.status, 422);
    assert.match(String(without.body.details?.[`${second.name}.view_query`]), /column "title" does not exist/);
    for (const name of [second.name, first.name, 'needed'])
      assert.equal((await admin.call('DELETE', `${path}/${name}`)).status, 200);
  });

  test('can change its query, its rules and its name, but not its type', async () => {
    const made = collectionOf(await view('select id, title from posts', { list_rule: null, view_rule: 'title = "a"' }));
    assert.deepEqual([made.list_rule, made.view_rule], [null, 'title = "a"']);
    const at = `${path}/${made.name}`;
    const wrong = await admin.call('PATCH', at, { view_query: 'select id, stars from posts' });
    assert.deepEqual([wrong.status, Object.keys(wrong.body.details ?? {})], [422, ['view_rule']]);
    const changed = collectionOf(
      await admin.call('PATCH', at, {
        view_query: 'select id, stars, title from posts',
        name: `${made.name}b`,
        view_rule: 'stars > 1',
      }),
    );
    assert.deepEqual(typesOf(changed.fields), { stars: 'number', title: 'text' });
    assert.equal(changed.fields[1]?.id, made.fields[0]?.id);
    const again = collectionOf(
      await admin.call('PATCH', `${at}b`, { ...changed, fields: JSON.stringify(changed.fields) }),
    );
    assert.deepEqual({ ...again, updated_at: 0 }, { ...changed, updated_at: 0 });
    for (const [body, place] of [
      [{ type: 'base' }, 'type'],
      [{ view_query: null }, 'view_query'],
      [{ history_enabled: true }, 'history_enabled'],
      [{ durability: 'relaxed' }, 'durability'],
      [{ list_rule: 'created > 1' }, 'list_rule'],
    ] as const) {
      const { status, body: answer } = await admin.call('PATCH', `${at}b`, body);
      assert.deepEqual([status, Object.keys(answer.details ?? {})], [422, [place]]);
    }
  });
});
