import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { skip } from '../../test/test-admin.ts';
import { relation, text } from '../../test/test-collection-routes.ts';
import { collections, type Members, type Schema, schemaPath, testSchemaRoutes } from '../../test/test-schema-routes.ts';

suite('the schema as files', { skip }, () => {
  const { call, rows, create, assertRefused, pull, plan, refusePlan, send, apply, namesOf, fileOf, record } =
    testSchemaRoutes();

  test('an apply creates circular relations, rules over them, indexes and views, and a second plan is empty', async () => {
    const schema = collections(
      {
        name: 'authors',
        list_rule: 'best.title != ""',
        fields: [text('name', { required: true }), relation('best', 'books')],
        indexes: [{ name: 'by_name', columns: ['name'], unique: true }],
      },
      {
        name: 'books',
        view_rule: 'author.name = "Ada"',
        fields: [
          text('title'),
          relation('author', 'authors'),
          relation('readers', 'people', { options: { multiple: true } }),
        ],
      },
      { name: 'people', type: 'auth', fields: [text('nick', { view_rule: 'id = @request.auth.id' })] },
      {
        name: 'titles',
        type: 'view',
        view_query: 'select b.id, b.title, a.name from books b join authors a on a.id = b.author',
      },
      {
        name: 'loud',
        type: 'view',
        view_query: 'select id, upper(title) as title from titles',
        list_rule: 'title != ""',
      },
    );
    const { changes } = await apply(schema);
    assert.deepEqual(
      namesOf(changes),
      schema.collections.map(({ name }) => `create collection ${name}`),
    );
    assert.deepEqual((await plan(schema)).changes, []);
    const files = await pull();
    assert.deepEqual((await plan(files)).changes, []);
    assert.equal((await call('GET', '/api/v1/collections/loud')).status, 200);
  });

  test('a field is renamed by its id and keeps its values; a drop has to be allowed by name', async () => {
    await create('posts', [text('title'), text('subtitle'), { name: 'rank', type: 'number' }]);
    await record('posts', { title: 'a', subtitle: 'b' });
    await record('posts', { title: 'c' });
    const posts = await fileOf('posts');
    const [title, , rank] = posts.fields;
    const schema = collections({
      ...posts,
      fields: [{ ...title, name: 'headline' }, rank as Members],
      list_rule: 'headline != ""',
    });
    const planned = await plan(schema);
    assert.deepEqual(namesOf(planned.changes), [
      'change collection posts',
      'rename field posts.headline from title',
      'drop field posts.subtitle',
    ]);
    assert.equal(planned.changes.at(-1)?.values, 1);
    assert.deepEqual(planned.drops, ['posts.subtitle']);
    assert.deepEqual(planned.locks, [
      {
        collection: 'posts',
        waits: 'reads and writes',
        reasons: ['drop subtitle', 'rename title'],
        rewrites: false,
        records: 2,
      },
    ]);
    const refused = await send(schema, planned.hash);
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.details],
      [422, 'drop_not_allowed', { 'posts.subtitle': 'would be dropped' }],
    );
    const without = collections({ ...posts, fields: [{ ...title, name: 'headline' }], list_rule: 'headline != ""' });
    const one = await send(without, planned.hash, { allow_drop: ['posts.subtitle', 'rank'] });
    assert.deepEqual(one.body.details, { 'posts.rank': 'would be dropped' });
    await apply(schema, { allow_drop: ['posts.subtitle'] });
    assert.deepEqual(await rows('select headline from records.posts order by 1'), [
      { headline: 'a' },
      { headline: 'c' },
    ]);
  });

  test('a key needs their scopes to plan and apply settings and webhooks', async () => {
    const key = (...scopes: string[]) => ({ type: 'service', id: 'k1', scopes }) as const;
    const hash = (await plan(collections())).hash;
    const ask = async (scopes: string[], method: string, route: string, more: Members = {}) => {
      const body =
        method === 'GET' ? undefined : { schema: { ...collections(), ...more }, ...(route === '/apply' && { hash }) };
      return (await call(method, `${schemaPath}${route}`, body, key(...scopes))).status;
    };
    assert.equal(await ask(['collections:read'], 'POST', '/plan'), 403);
    assert.equal(await ask(['collections:apply'], 'POST', '/plan'), 200);
    assert.equal(await ask(['collections:apply'], 'POST', '/apply'), 200);
    for (const part of [{ settings: {} }, { webhooks: [] }]) {
      const [name = ''] = Object.keys(part);
      assert.equal(await ask(['collections:apply'], 'POST', '/plan', part), 403);
      assert.equal(await ask(['collections:apply', `${name}:read`], 'POST', '/plan', part), 200);
      assert.equal(await ask(['collections:apply', `${name}:read`], 'POST', '/apply', part), 403);
      assert.equal(await ask(['collections:apply', `${name}:write`], 'POST', '/apply', part), 200);
      assert.equal(await ask(['admin'], 'POST', '/apply', part), 200);
    }
    const read = await call('GET', schemaPath, undefined, key('collections:read', 'settings:read'));
    assert.deepEqual(Object.keys(read.body.data as Members).sort(), [
      'collections',
      'migrations',
      'settings',
      'version',
    ]);
  });

  test('collections and fields swap names in one apply, and views follow by their new queries', async () => {
    await create('cats', [text('a'), text('b')]);
    await create('dogs', [relation('friend', 'cats')], { list_rule: 'friend.a = "x"' });
    await create('named', [], { type: 'view', view_query: 'select id, a from cats' });
    await record('cats', { a: 'x', b: 'y' });
    const { collections: files } = await pull();
    const swapped = files.map((file) => {
      const fields = file.fields as Members[];
      if (file.name === 'cats')
        return {
          ...file,
          name: 'dogs',
          fields: fields.map((field) => ({ ...field, name: field.name === 'a' ? 'b' : 'a' })),
        };
      if (file.name === 'dogs')
        return {
          ...file,
          name: 'cats',
          fields: fields.map((field) => ({ ...field, collection: 'dogs' })),
          list_rule: 'friend.b = "x"',
        };
      return { ...file, view_query: 'select id, b as a from dogs' };
    });
    const schema = collections(...swapped);
    assert.deepEqual(namesOf((await plan(schema)).changes), [
      'rename collection dogs from cats',
      'rename field dogs.b from a',
      'rename field dogs.a from b',
      'rename collection cats from dogs',
      'change collection cats',
      'change field cats.friend',
      'change collection named',
    ]);
    await apply(schema);
    assert.deepEqual(await rows('select a, b from records.dogs'), [{ a: 'y', b: 'x' }]);
    assert.deepEqual(await rows('select a from records.named'), [{ a: 'x' }]);
    assert.deepEqual((await plan(schema)).changes, []);
  });

  test('applying an old plan is refused, and when two apply at once, one succeeds', async () => {
    await create('posts', [text('title')]);
    const posts = await fileOf('posts');
    const schema = (rule: string) => collections({ ...posts, list_rule: rule });
    const { hash } = await plan(schema('title = "a"'));
    await call('PATCH', '/api/v1/collections/posts', { view_rule: '' });
    const moved = await send(schema('title = "a"'), hash);
    assert.deepEqual([moved.status, moved.body.code], [409, 'schema_moved']);
    const now = (await plan(schema('title = "a"'))).hash;
    const both = await Promise.all(['a', 'b'].map((text) => send(schema(`title = "${text}"`), now)));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  });

  test('an impossible change is refused with its reason, and a failed apply changes nothing', async () => {
    await create('posts', [text('title'), text('slug')]);
    await record('posts', { title: 'a' });
    await record('posts', { title: 'a' });
    const posts = await fileOf('posts');
    const withTitle = (change: Members) =>
      collections({
        ...posts,
        fields: posts.fields.map((field) => (field.name === 'title' ? { ...field, ...change } : field)),
      });
    assertRefused(await refusePlan(withTitle({ type: 'number' })), 422, {
      'collections.posts.fields.title.type': 'cannot change from text: drop the field and add it again',
    });
    assertRefused(await refusePlan(withTitle({ options: { unique: true } })), 422, {
      'collections.posts.fields.title.options.unique': '2 rows violate it',
    });
    assertRefused(
      await refusePlan(collections({ ...posts, indexes: [{ name: 'one', columns: ['title'], unique: true }] })),
      422,
      { 'collections.posts.indexes.0.unique': '2 rows violate it' },
    );
    assertRefused(
      await refusePlan(collections({ ...posts, fields: posts.fields.map((field) => ({ ...field, required: true })) })),
      422,
      { 'collections.posts.fields.slug.required': '2 records have no value' },
    );
    assertRefused(await refusePlan(collections({ ...posts, list_rule: 'headline = 1' })), 422, {
      'collections.posts.list_rule': 'posts has no field "headline"',
    });
    assertRefused(
      await refusePlan(collections(posts, { name: 'v', type: 'view', view_query: 'select id, nothing from posts' })),
      422,
      { 'collections.v.view_query': 'column "nothing" does not exist' },
    );
    const before = await pull();
    const failing: Schema = {
      version: 1,
      collections: [
        { ...posts, list_rule: '' },
        { name: 'more', fields: [text('x')] },
      ],
      migrations: [
        { name: '1-fail', sql: "insert into more (x) values ('y');\ninsert into more (id) values ('a b');" },
      ],
    };
    const answer = await send(failing, (await plan(failing)).hash);
    assertRefused(answer, 422, { 'migrations.1-fail': 'line 2: the id "a b" is not a valid id' });
    assert.deepEqual(await pull(), before);
    assert.deepEqual(await rows("select to_regclass('records.more') as made"), [{ made: null }]);
  });

  test('a failure in the last step undoes the earlier steps', async () => {
    await create('posts', [text('title')]);
    await record('posts', { title: 'a' });
    const before = await pull();
    const posts = await fileOf('posts');
    const schema: Schema = {
      version: 1,
      collections: [
        { ...posts, list_rule: '', fields: [...posts.fields, text('slug')] },
        { name: 'more', fields: [text('x')] },
        { name: 'titles', type: 'view', view_query: 'select id, title from posts' },
      ],
      migrations: [{ name: '1-slugs', sql: 'update posts set slug = title;' }],
      settings: { ...before.settings, 'smtp.host': 'mail.example.com' },
      webhooks: [{ name: 'CRM', url: 'https://crm.example.com/hook', events: ['posts.*'] }],
    };
    const { hash, changes } = await plan(schema);
    assert.ok(changes.length >= 6, String(namesOf(changes)));
    const fail = "begin raise exception 'the last step fails'; end";
    await rows(`create function fail_last() returns trigger language plpgsql as $$ ${fail} $$`);
    // An apply writes the audit row last.
    await rows('create trigger fail_last before insert on system.audit execute function fail_last()');
    const answer = await send(schema, hash);
    await rows('drop function fail_last cascade');
    assert.equal(answer.status, 500);
    assert.deepEqual(await pull(), before);
    assert.deepEqual(await rows("select to_regclass('records.more') as made"), [{ made: null }]);
    assert.equal((await plan(schema)).hash, hash);
    await apply(schema);
  });
});
