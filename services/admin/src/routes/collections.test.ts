import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { collectionJson, type Field } from '@recordbus/schema';
import { type Answer, skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';

const path = '/api/v1/collections';

const allTypes = [
  { name: 'title', type: 'text', required: true, options: { min: 2, max: 50, pattern: '^[A-Z]', unique: true } },
  { name: 'rank', type: 'number', options: { min: 0, max: 10, unique: true } },
  { name: 'draft', type: 'bool' },
  { name: 'due', type: 'date' },
  { name: 'state', type: 'select', options: { values: ['open', 'done'] } },
  { name: 'tags', type: 'select', options: { values: ["o'clock", 'b'], multiple: true } },
  { name: 'parent', type: 'relation', collection: 'posts', options: { cascade: 'cascade' } },
  { name: 'extra', type: 'json' },
];

const text = (name: string, rest: object = {}) => ({ name, type: 'text', ...rest });
const relation = (name: string, collection: string, rest: object = {}) => ({
  name,
  type: 'relation',
  collection,
  ...rest,
});

describe('/api/v1/collections', { skip }, () => {
  let admin: TestAdmin;
  let nowMs = 1_700_000_000_000;
  before(async () => {
    admin = await startTestAdmin(() => nowMs);
  });
  after(() => admin.stop());
  beforeEach(async () => {
    for (const left of await rows<{ name: string }>('select name from system.collections'))
      await rows(`drop table records."${left.name}" cascade`);
    await rows('delete from system.collections');
    nowMs = 1_700_000_000_000;
  });

  const rows = <R>(text: string, values: unknown[] = []) => admin.database.query<R>({ text, values });
  const schemaVersion = async () =>
    (await rows<{ version: number }>("select version from system.versions where name = 'schema'"))[0]?.version ?? 0;

  /** The table as PostgreSQL has it: columns with their types, indexes and constraints as they are written. */
  async function describeTable(name: string) {
    const columns = await rows<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
      [`records."${name}"`],
    );
    const indexes = await rows<{ text: string }>(
      "select indexdef as text from pg_indexes where schemaname = 'records' and tablename = $1",
      [name],
    );
    const foreignKeys = await rows<{ text: string }>(
      "select pg_get_constraintdef(oid) as text from pg_constraint where conrelid = to_regclass($1) and contype = 'f'",
      [`records."${name}"`],
    );
    return {
      columns: Object.fromEntries(columns.map((column) => [column.name, column.type])),
      indexes: indexes.map((index) => index.text.replace(/^(create.* index) .* on .*? using btree/i, '$1')).sort(),
      foreignKeys: foreignKeys.map((key) => key.text),
    };
  }

  /** The collection of an answer with its fields parsed. */
  function collectionOf({ status, body }: Answer) {
    assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
    const collection = collectionJson.strict().parse(body.data);
    const fields: Field[] = JSON.parse(collection.fields);
    return { ...collection, fields };
  }

  const create = async (name: string, fields: object[] = [], rest: object = {}) =>
    collectionOf(await admin.call('POST', path, { name, fields, ...rest }));
  const change = async (name: string, body: object) => collectionOf(await admin.call('PATCH', `${path}/${name}`, body));

  function assertRefused(answer: Answer, status: number, details: Record<string, unknown>) {
    assert.deepEqual([answer.status, answer.body.details], [status, details], JSON.stringify(answer.body));
  }

  describe('POST', () => {
    test('makes the collection, and its table with all types of fields', async () => {
      const versionBefore = await schemaVersion();
      const answer = await admin.call('POST', path, { name: 'posts', type: 'base', fields: allTypes, list_rule: '' });
      assert.equal(answer.status, 201);
      const { id, fields, ...rest } = collectionOf(answer);
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
        assert.deepEqual(await admin.call('GET', `${path}/${name}`), { status: 200, body: answer.body });
      assert.deepEqual(await admin.call('GET', path), { status: 200, body: { data: [answer.body.data] } });
    });

    test('takes the fields as JSON text, and a collection as it was read', async () => {
      const { body } = await admin.call('POST', path, { name: 'posts', fields: JSON.stringify(allTypes) });
      assert.equal((await admin.call('DELETE', `${path}/posts`)).status, 200);
      const again = await admin.call('POST', path, body.data);
      assert.equal(again.status, 201, JSON.stringify(again.body));
      const { id: _first, ...first } = collectionJson.parse(body.data);
      const { id: _second, ...second } = collectionJson.parse(again.body.data);
      assert.deepEqual(second, first);
    });

    test('400 for a name that is taken, in whatever case', async () => {
      await create('posts');
      for (const name of ['posts', 'Posts']) {
        const answer = await admin.call('POST', path, { name });
        assertRefused(answer, 400, { name: 'is taken' });
        assert.equal(answer.body.code, 'collection_exists');
      }
    });

    test('names of tables and of indexes are kept apart', async () => {
      const { id } = await create('posts');
      for (const name of ['posts_pkey', `created_${id.replaceAll('-', '')}`, `pk_${id.replaceAll('-', '')}`])
        await create(name);
    });

    const sentence = 'must begin with a letter and have at most 63 letters, digits and underscores';
    const refusals: [string, Record<string, unknown>, Record<string, string>][] = [
      ['no name', {}, { name: 'is required' }],
      ['a bad name', { name: '1st' }, { name: sentence }],
      ['a long name', { name: 'a'.repeat(64) }, { name: sentence }],
      ['a reserved name', { name: 'files' }, { name: '"files" is reserved' }],
      ['a reserved name in another case', { name: 'Records' }, { name: '"Records" is reserved' }],
      ['a bad type', { name: 'a', type: 'table' }, { type: 'must be base, auth or view' }],
      ['a view without a query', { name: 'a', type: 'view' }, { view_query: 'is required' }],
      ['a query', { name: 'a', view_query: 'select 1' }, { view_query: 'is only for collections of type view' }],
      ['an unknown key', { name: 'a', colour: 1 }, { colour: 'is not known here' }],
      ['fields that are none', { name: 'a', fields: {} }, { fields: 'must be a list of field definitions' }],
      ['fields of bad JSON', { name: 'a', fields: '[{' }, { fields: 'must be a list of field definitions' }],
      ['a flag that is none', { name: 'a', history_enabled: 1 }, { history_enabled: 'must be true or false' }],
      ['a rule that is no text', { name: 'a', list_rule: true }, { list_rule: 'must be null or a string' }],
      [
        'everything that is wrong at once',
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
      test(`422 for ${what}`, async () => {
        const version = await schemaVersion();
        assertRefused(await admin.call('POST', path, body), 422, details);
        assert.equal(await schemaVersion(), version);
      });

    test('rules follow the names of fields, and a field that a rule names is not dropped', async () => {
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
      const notes = collectionOf(await admin.call('GET', `${path}/notes`));
      assert.equal(notes.view_rule, 'post.b = "x"');
      assertRefused(await admin.call('PATCH', `${path}/posts`, { fields: [swapped.fields[1]] }), 422, {
        list_rule: 'posts has no field "b"',
        'notes.view_rule': 'posts has no field "b"',
      });
      await change('posts', { name: 'articles' });
      assert.equal(collectionOf(await admin.call('GET', `${path}/notes`)).view_rule, 'post.b = "x"');
    });

    test('400 for a body that is not JSON, or no object', async () => {
      for (const body of ['{"name":', '[]', '"posts"'])
        assert.equal((await admin.call('POST', path, body)).status, 400, body);
    });

    test('several at once all take effect, the same one only once', async () => {
      const answers = await Promise.all(
        ['a', 'b', 'c', 'd', 'same', 'same', 'Same'].map((name) => admin.call('POST', path, { name })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 201, 201, 400, 400]);
      const names = await rows<{ name: string }>('select lower(name) as name from system.collections order by 1');
      assert.deepEqual(
        names.map(({ name }) => name),
        ['a', 'b', 'c', 'd', 'same'],
      );
    });
  });

  describe('PATCH', () => {
    test('leaves alone what the body leaves out', async () => {
      const before = await create('posts', allTypes, { view_rule: '', history_enabled: true });
      nowMs += 5000;
      const changed = await change(before.id, { list_rule: '' });
      assert.deepEqual(changed, { ...before, list_rule: '', updated_at: 1_700_000_005 });
      assert.deepEqual(collectionOf(await admin.call('GET', `${path}/posts`)), changed);
    });

    test('adds, drops and renames fields; data goes with the id, or without ids with the name', async () => {
      const { fields } = await create('posts', [text('a'), text('b'), text('c')]);
      const [a, b] = fields;
      await rows("insert into records.posts values ('1', 1, 1, 'A', 'B', 'C')");
      await change('posts', { fields: [{ ...a, name: 'b' }, { ...b, name: 'a' }, text('d')] });
      assert.deepEqual(await rows('select a, b, d from records.posts'), [{ a: 'B', b: 'A', d: null }]);
      const { columns } = await describeTable('posts');
      assert.deepEqual(Object.keys(columns).sort(), ['a', 'b', 'created_at', 'd', 'id', 'updated_at']);
      const { fields: kept } = await change('posts', { fields: [text('a'), text('b')] });
      assert.deepEqual(
        kept.map(({ id }) => id),
        [b?.id, a?.id],
      );
      assert.deepEqual(await rows('select a, b from records.posts'), [{ a: 'B', b: 'A' }]);
    });

    test('a chain of renames and a field that takes the name of a dropped one', async () => {
      const { fields } = await create('posts', [text('a'), text('b'), text('c')]);
      const [a, b] = fields;
      await rows("insert into records.posts values ('1', 1, 1, 'A', 'B', 'C')");
      await change('posts', {
        fields: [
          { ...b, name: 'c' },
          { ...a, name: 'b' },
          { id: 'fresh', ...text('a') },
        ],
      });
      assert.deepEqual(await rows('select a, b, c from records.posts'), [{ a: null, b: 'A', c: 'B' }]);
    });

    test('renames the collection: table, relations of others and to itself follow', async () => {
      await create('posts', [relation('parent', 'posts')]);
      await create('comments', [relation('post', 'posts', { options: { cascade: 'cascade' } })]);
      const renamed = await change('posts', { name: 'Articles' });
      assert.equal(renamed.fields[0]?.collection, 'Articles');
      const comments = collectionOf(await admin.call('GET', `${path}/comments`));
      assert.equal(comments.fields[0]?.collection, 'Articles');
      assert.equal((await admin.call('GET', `${path}/posts`)).status, 404);
      assert.deepEqual((await describeTable('comments')).foreignKeys, [
        'FOREIGN KEY (post) REFERENCES records."Articles"(id) DEFERRABLE',
      ]);
      // Another case of its own name is no other name; a relation to itself may go by the former one.
      const again = await change('Articles', { name: 'articles', fields: [relation('parent', 'Articles')] });
      assert.equal(again.fields[0]?.collection, 'articles');
      assert.equal(again.fields[0]?.id, renamed.fields[0]?.id);
      assert.ok((await describeTable('articles')).columns.parent);
    });

    test('400 for a name that is taken, 404 for a collection that is not there', async () => {
      await create('posts');
      await create('tags');
      assertRefused(await admin.call('PATCH', `${path}/posts`, { name: 'Tags' }), 400, { name: 'is taken' });
      assert.equal((await admin.call('PATCH', `${path}/nobody`, { name: 'x1' })).status, 404);
      assert.equal((await admin.call('PATCH', `${path}/Posts`, { name: 'x1' })).status, 404);
    });

    test('422 for what can never change', async () => {
      await create('tags');
      const { fields } = await create('posts', [text('a'), relation('tag', 'tags')]);
      const [a, tag] = fields;
      assertRefused(await admin.call('PATCH', `${path}/posts`, { type: 'view' }), 422, {
        type: 'cannot change from base',
      });
      const body = {
        fields: [
          { ...a, type: 'number', options: {} },
          { ...tag, collection: 'posts' },
        ],
      };
      assertRefused(await admin.call('PATCH', `${path}/posts`, body), 422, {
        'fields.a.type': 'cannot change from text: drop the field and add it again',
        'fields.tag.collection': 'cannot change from tags: drop the field and add it again',
      });
    });

    test('required, unique and narrower options count the rows that stand against them', async () => {
      const { fields } = await create('posts', [
        text('a'),
        { name: 'n', type: 'number' },
        { name: 's', type: 'select', options: { values: ["it's", 'b', 'c'] } },
        { name: 'm', type: 'select', options: { values: ["it's", 'b'], multiple: true } },
        { name: 'j', type: 'json' },
      ]);
      const insert = 'insert into records.posts values ($1, 1, 1, $2, $3, $4, $5, $6)';
      await rows(insert, ['1', 'same', 1, "it's", '["it\'s", "b"]', '[]']);
      await rows(insert, ['2', 'same', 1, 'b', '["b"]', '""']);
      await rows(insert, ['3', '', null, null, '[]', null]);
      await rows(insert, ['4', 'ü😀', 5, 'c', null, '0']);
      const refusal = async (name: string, definition: object) => {
        const changed = fields.map((field) => (field.name === name ? { ...field, ...definition } : field));
        const answer = await admin.call('PATCH', `${path}/posts`, { fields: changed });
        return answer.status === 422 ? answer.body.details : answer.status;
      };
      const rowsAgainst = (place: string, count: number) => ({
        [place]: count === 1 ? '1 row stands against it' : `${count} rows stand against it`,
      });
      const cases: [string, object, unknown][] = [
        ['a', { required: true }, rowsAgainst('fields.a.required', 1)],
        ['n', { required: true }, rowsAgainst('fields.n.required', 1)],
        ['m', { required: true }, rowsAgainst('fields.m.required', 2)],
        ['j', { required: true }, rowsAgainst('fields.j.required', 3)],
        ['a', { options: { unique: true } }, rowsAgainst('fields.a.options.unique', 2)],
        ['n', { options: { unique: true } }, rowsAgainst('fields.n.options.unique', 2)],
        ['a', { options: { min: 3 } }, rowsAgainst('fields.a.options.min', 1)],
        ['a', { options: { max: 3 } }, rowsAgainst('fields.a.options.max', 2)],
        ['a', { options: { pattern: 'a' } }, rowsAgainst('fields.a.options.pattern', 1)],
        ['n', { options: { min: 2 } }, rowsAgainst('fields.n.options.min', 2)],
        ['n', { options: { max: 0.5 } }, rowsAgainst('fields.n.options.max', 3)],
        ['s', { options: { values: ["it's"] } }, rowsAgainst('fields.s.options.values', 2)],
        ['s', { options: { values: [] } }, rowsAgainst('fields.s.options.values', 3)],
        ['m', { options: { values: ['b'], multiple: true } }, rowsAgainst('fields.m.options.values', 1)],
        ['m', { options: { values: ["it's", 'b'] } }, rowsAgainst('fields.m.options.multiple', 1)],
      ];
      for (const [name, definition, expected] of cases)
        assert.deepEqual(await refusal(name, definition), expected, `${name} ${JSON.stringify(definition)}`);
      const added = [...fields, text('later', { required: true })];
      assertRefused(
        await admin.call('PATCH', `${path}/posts`, { fields: added }),
        422,
        rowsAgainst('fields.later.required', 4),
      );
    });

    test('options over data that fits them change, and back', async () => {
      const before = await create('posts', [
        text('a'),
        { name: 's', type: 'select', options: { values: ['x', 'y'] } },
        { name: 'n', type: 'number', options: { min: 0 } },
      ]);
      await rows("insert into records.posts values ('1', 1, 1, 'abc', 'x', 1), ('2', 1, 1, '', null, null)");
      const narrow = { min: 1, max: 3, pattern: '^a', unique: true };
      await change('posts', {
        fields: [
          text('a', { options: narrow }),
          { name: 's', type: 'select', options: { values: ['x', 'y'], multiple: true } },
          { name: 'n', type: 'number', options: { min: 1, max: 1, unique: true } },
        ],
      });
      assert.deepEqual(await rows('select s from records.posts order by id'), [{ s: ['x'] }, { s: null }]);
      await assert.rejects(rows("insert into records.posts values ('3', 1, 1, 'abc')"), { code: '23505' });
      await assert.rejects(rows("insert into records.posts values ('3', 1, 1, '', null, 1)"), { code: '23505' });
      await rows("insert into records.posts values ('3', 1, 1, '')");
      await change('posts', { fields: before.fields });
      assert.deepEqual(await rows('select s from records.posts order by id'), [{ s: 'x' }, { s: null }, { s: null }]);
      await rows("insert into records.posts values ('4', 1, 1, 'abc', null, 1)");
      assert.equal((await describeTable('posts')).indexes.length, 2);
    });

    test('a text too long for an index stands against unique', async () => {
      const { fields } = await create('posts', [text('a')]);
      await rows(
        "insert into records.posts select '1', 1, 1, string_agg(md5(i::text), '') from generate_series(1, 100) i",
      );
      const body = { fields: [{ ...fields[0], options: { unique: true } }] };
      assertRefused(await admin.call('PATCH', `${path}/posts`, body), 422, {
        'fields.a.options.unique': '1 row stands against it',
      });
    });

    test('a pattern is held against every row, many as they are', async () => {
      const { fields } = await create('posts', [text('a')]);
      await rows(
        "insert into records.posts select lpad(i::text, 5, '0'), 1, 1, 'v' || i from generate_series(1, 4500) i",
      );
      const body = { fields: [{ ...fields[0], options: { pattern: '[0-8]$' } }] };
      assertRefused(await admin.call('PATCH', `${path}/posts`, body), 422, {
        'fields.a.options.pattern': '450 rows stand against it',
      });
    });

    test('of two at once neither is lost', async () => {
      await create('posts', [text('a')]);
      await Promise.all([change('posts', { list_rule: '' }), change('posts', { view_rule: '' })]);
      const { list_rule, view_rule } = collectionOf(await admin.call('GET', `${path}/posts`));
      assert.deepEqual([list_rule, view_rule], ['', '']);
    });

    test('gives way to records being written, and is done when they are', async () => {
      await create('authors');
      await create('posts', [text('a')]);
      const changed = await admin.database.transaction(async (query) => {
        await query({ text: "insert into records.posts values ('1', 1, 1, 'x')", values: [] });
        const change1 = change('posts', { fields: [text('a'), relation('author', 'authors')] });
        // Longer than one wait for the lock: what is written in the meantime gets through.
        const deadlineMs = performance.now() + 1000;
        while (performance.now() < deadlineMs) {
          await query({ text: 'insert into records.authors values (gen_random_uuid()::text, 1, 1)', values: [] });
          await rows("insert into records.posts values (gen_random_uuid()::text, 1, 1, 'y')");
        }
        return { done: change1 };
      });
      assert.equal((await changed.done).fields.length, 2);
    });
  });

  describe('DELETE', () => {
    test('drops the table with its records, also one that refers to itself', async () => {
      const { id } = await create('posts', [relation('parent', 'posts')]);
      await rows("insert into records.posts values ('1', 1, 1, '1')");
      assert.deepEqual(await admin.call('DELETE', `${path}/${id}`), { status: 200, body: { data: null } });
      assert.deepEqual((await describeTable('posts')).columns, {});
      assert.equal((await admin.call('GET', `${path}/posts`)).status, 404);
      assert.equal((await admin.call('DELETE', `${path}/posts`)).status, 404);
    });

    test('409 naming the relations that lead to it', async () => {
      await create('tags');
      await create('posts', [relation('tag', 'tags'), relation('other', 'tags')]);
      const answer = await admin.call('DELETE', `${path}/tags`);
      assertRefused(answer, 409, {
        blockers: [
          { collection: 'posts', field: 'tag' },
          { collection: 'posts', field: 'other' },
        ],
      });
      assert.equal((await admin.call('DELETE', `${path}/posts`)).status, 200);
      assert.equal((await admin.call('DELETE', `${path}/tags`)).status, 200);
    });
  });

  test('only for admins', async () => {
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
      assert.equal((await admin.call(method, at, undefined, { type: 'guest', rejectedToken: false })).status, 401);
      assert.equal((await admin.call(method, at, undefined, user)).status, 403);
    }
  });
});
