import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectionJson } from '@recordbus/schema';
import { skip } from '../../test/test-admin.ts';
import { allTypes, path, relation, testCollectionRoutes, text } from '../../test/test-collection-routes.ts';

describe('/api/v1/collections', { skip }, () => {
  const { call, rows, schemaVersion, describeTable, collectionOf, create, change, assertRefused } =
    testCollectionRoutes();

  describe('POST', () => {
    test('creates the collection and its table with all field types', async () => {
      const versionBefore = await schemaVersion();
      const answer = await call('POST', path, { name: 'posts', type: 'base', fields: allTypes, list_rule: '' });
      assert.equal(answer.status, 201);
      const { id, fields, etag, ...rest } = collectionOf(answer);
      assert.match(etag, /^W\/"[\w-]{27}"$/);
      assert.deepEqual(rest, {
        name: 'posts',
        type: 'base',
        view_query: null,
        list_rule: '',
        view_rule: null,
        create_rule: null,
        update_rule: null,
        delete_rule: null,
        history_enabled: false,
        durability: 'full',
        guests: ['view', 'create', 'update', 'delete'],
        created_at: 1_700_000_000,
        updated_at: 1_700_000_000,
      });
      assert.deepEqual(
        fields.map(({ id: fieldId, ...field }) => [/^[a-z0-9]{12}$/.test(fieldId), field.name, field.required]),
        allTypes.map(({ name, required = false }) => [true, name, required]),
      );
      assert.deepEqual(await describeTable('posts'), {
        columns: {
          id: 'text',
          created_at: 'bigint',
          updated_at: 'bigint',
          title: 'text',
          rank: 'double precision',
          draft: 'boolean',
          due: 'bigint',
          state: 'text',
          tags: 'jsonb',
          parent: 'text',
          extra: 'jsonb',
          _revision: 'integer',
        },
        indexes: [
          'CREATE INDEX (created_at DESC, id DESC)',
          'CREATE INDEX (parent)',
          'CREATE UNIQUE INDEX (id)',
          'CREATE UNIQUE INDEX (rank) WHERE (rank IS NOT NULL)',
          "CREATE UNIQUE INDEX (title) WHERE (title <> ''::text)",
        ],
        foreignKeys: ['FOREIGN KEY (parent) REFERENCES records.posts(id) DEFERRABLE'],
      });
      assert.equal(await schemaVersion(), versionBefore + 1);
      for (const name of ['posts', id])
        assert.deepEqual(await call('GET', `${path}/${name}`), { status: 200, body: { data: answer.body.data } });
      assert.deepEqual(await call('GET', path), { status: 200, body: { data: [answer.body.data] } });
    });

    test('accepts fields as JSON text, and a collection as it was read', async () => {
      const { body } = await call('POST', path, { name: 'posts', fields: JSON.stringify(allTypes) });
      assert.equal((await call('DELETE', `${path}/posts`)).status, 200);
      const again = await call('POST', path, body.data);
      assert.equal(again.status, 201, JSON.stringify(again.body));
      const { id: _first, ...first } = collectionJson.parse(body.data);
      const { id: _second, ...second } = collectionJson.parse(again.body.data);
      assert.deepEqual(second, first);
    });

    test('answers 400 for a name that is taken in any case', async () => {
      await create('posts');
      for (const name of ['posts', 'Posts']) {
        const answer = await call('POST', path, { name });
        assertRefused(answer, 400, { name: 'is taken' });
        assert.equal(answer.body.code, 'collection_exists');
      }
    });

    test('table names and index names do not collide', async () => {
      const { id } = await create('posts');
      for (const name of ['posts_pkey', `created_${id.replaceAll('-', '')}`, `pk_${id.replaceAll('-', '')}`])
        await create(name);
    });

    const sentence = 'must begin with a letter and have at most 63 letters, digits and underscores';
    const refusals: [string, Record<string, unknown>, Record<string, string>][] = [
      ['a missing name', {}, { name: 'is required' }],
      ['an invalid name', { name: '1st' }, { name: sentence }],
      ['a long name', { name: 'a'.repeat(64) }, { name: sentence }],
      ['a reserved name', { name: 'files' }, { name: '"files" is reserved' }],
      ['a reserved name in another case', { name: 'Records' }, { name: '"Records" is reserved' }],
      ['an unknown type', { name: 'a', type: 'table' }, { type: 'must be base, auth or view' }],
      ['a view without a query', { name: 'a', type: 'view' }, { view_query: 'is required' }],
      [
        'a query for a base collection',
        { name: 'a', view_query: 'select 1' },
        { view_query: 'is only for view collections' },
      ],
      ['an unknown key', { name: 'a', colour: 1 }, { colour: 'is not known here' }],
      ['fields that are not a list', { name: 'a', fields: {} }, { fields: 'must be a list of field definitions' }],
      ['fields with invalid JSON', { name: 'a', fields: '[{' }, { fields: 'must be a list of field definitions' }],
      ['a flag that is not a boolean', { name: 'a', history_enabled: 1 }, { history_enabled: 'must be true or false' }],
      ['a rule that is not a text', { name: 'a', list_rule: true }, { list_rule: 'must be null or a string' }],
      [
        'several problems at once',
        {
          name: 'v1',
          update_rule: 'nope = 1',
          fields: [text('id'), relation('author', 'nobody'), text('ok', { options: { min: 3, max: 2 } })],
        },
        {
          name: '"v1" is reserved',
          update_rule: 'v1 has no field "nope"',
          'fields.0.name': '"id" is reserved',
          'fields.author.collection': 'there is no collection "nobody"',
          'fields.ok.options.min': 'must not be above max',
        },
      ],
    ];
    for (const [what, body, details] of refusals)
      test(`answers 422 for ${what}`, async () => {
        const version = await schemaVersion();
        assertRefused(await call('POST', path, body), 422, details);
        assert.equal(await schemaVersion(), version);
      });

    test('renames fields in rules, and keeps a field that a rule names', async () => {
      const posts = await create('posts', [text('title'), text('b')], { list_rule: 'title = "title" || b = "x"' });
      await create('notes', [relation('post', 'posts')], { view_rule: 'post.title = "x"' });
      const [title, b] = posts.fields;
      const swapped = await change('posts', {
        fields: [
          { ...title, name: 'b' },
          { ...b, name: 'title' },
        ],
      });
      assert.equal(swapped.list_rule, 'b = "title" || title = "x"');
      const notes = collectionOf(await call('GET', `${path}/notes`));
      assert.equal(notes.view_rule, 'post.b = "x"');
      assertRefused(await call('PATCH', `${path}/posts`, { fields: [swapped.fields[1]] }), 422, {
        list_rule: 'posts has no field "b"',
        'notes.view_rule': 'post has no field "b"',
      });
      await change('posts', { name: 'articles' });
      assert.equal(collectionOf(await call('GET', `${path}/notes`)).view_rule, 'post.b = "x"');
    });

    test('answers 400 for a body that is not JSON or not an object', async () => {
      for (const body of ['{"name":', '[]', '"posts"'])
        assert.equal((await call('POST', path, body)).status, 400, body);
    });

    test('applies parallel creates, and equal ones only once', async () => {
      const answers = await Promise.all(
        ['a', 'b', 'c', 'd', 'same', 'same', 'Same'].map((name) => call('POST', path, { name })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 201, 201, 400, 400]);
      const names = await rows<{ name: string }>('select lower(name) as name from system.collections order by 1');
      assert.deepEqual(
        names.map(({ name }) => name),
        ['a', 'b', 'c', 'd', 'same'],
      );
    });
  });

  describe('DELETE', () => {
    test('drops the table with its records, even if it refers to itself', async () => {
      const { id } = await create('posts', [relation('parent', 'posts')]);
      await rows("insert into records.posts values ('1', 1, 1, '1')");
      assert.deepEqual(await call('DELETE', `${path}/${id}`), { status: 200, body: { data: null } });
      assert.deepEqual((await describeTable('posts')).columns, {});
      assert.equal((await call('GET', `${path}/posts`)).status, 404);
      assert.equal((await call('DELETE', `${path}/posts`)).status, 404);
    });

    test('answers 409 with the relations that refer to it', async () => {
      await create('tags');
      await create('posts', [relation('tag', 'tags'), relation('other', 'tags')]);
      const answer = await call('DELETE', `${path}/tags`);
      assertRefused(answer, 409, {
        blockers: [
          { collection: 'posts', field: 'tag' },
          { collection: 'posts', field: 'other' },
        ],
      });
      assert.equal((await call('DELETE', `${path}/posts`)).status, 200);
      assert.equal((await call('DELETE', `${path}/tags`)).status, 200);
    });
  });

  test('is for admins only', async () => {
    const user = {
      type: 'user',
      id: '1',
      email: 'u@e.example',
      collection: 'users',
      anonymous: false,
      impersonatedBy: null,
    } as const;
    for (const [method, at] of [
      ['GET', path],
      ['POST', path],
      ['GET', `${path}/a`],
      ['PATCH', `${path}/a`],
      ['DELETE', `${path}/a`],
    ] as const) {
      assert.equal((await call(method, at, undefined, { type: 'guest', rejectedToken: false })).status, 401);
      assert.equal((await call(method, at, undefined, user)).status, 403);
    }
  });
});
