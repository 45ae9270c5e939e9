import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { skip } from '../../test/test-admin.ts';
import { allTypes, path, relation, testCollectionRoutes, text } from '../../test/test-collection-routes.ts';

describe('PATCH /api/v1/collections/:collection', { skip }, () => {
  const { clock, call, database, rows, describeTable, collectionOf, create, change, assertRefused } =
    testCollectionRoutes();

  test('keeps members that the body leaves out', async () => {
    const before = await create('posts', allTypes, { view_rule: '', history_enabled: true });
    clock.nowMs += 5000;
    const changed = await change(before.id, { list_rule: '' });
    const guests = ['create', 'update', 'delete'];
    assert.deepEqual(changed, { ...before, list_rule: '', guests, updated_at: 1_700_000_005, etag: changed.etag });
    assert.notEqual(changed.etag, before.etag);
    assert.deepEqual(collectionOf(await call('GET', `${path}/posts`)), changed);
  });

  test('adds, drops and renames fields, and keeps data by id, or by name without an id', async () => {
    const { fields } = await create('posts', [text('a'), text('b'), text('c')]);
    const [a, b] = fields;
    await rows("insert into records.posts values ('1', 1, 1, 'A', 'B', 'C')");
    await change('posts', { fields: [{ ...a, name: 'b' }, { ...b, name: 'a' }, text('d')] });
    assert.deepEqual(await rows('select a, b, d from records.posts'), [{ a: 'B', b: 'A', d: null }]);
    const { columns } = await describeTable('posts');
    assert.deepEqual(Object.keys(columns).sort(), ['_revision', 'a', 'b', 'created_at', 'd', 'id', 'updated_at']);
    const { fields: kept } = await change('posts', { fields: [text('a'), text('b')] });
    assert.deepEqual(
      kept.map(({ id }) => id),
      [b?.id, a?.id],
    );
    assert.deepEqual(await rows('select a, b from records.posts'), [{ a: 'B', b: 'A' }]);
  });

  test("renames fields in a chain, and gives a field a dropped one's name", async () => {
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

  test('renames the collection with its table and all relations to it', async () => {
    await create('posts', [relation('parent', 'posts')]);
    await create('comments', [relation('post', 'posts', { options: { cascade: 'cascade' } })]);
    const renamed = await change('posts', { name: 'Articles' });
    assert.equal(renamed.fields[0]?.collection, 'Articles');
    const comments = collectionOf(await call('GET', `${path}/comments`));
    assert.equal(comments.fields[0]?.collection, 'Articles');
    assert.equal((await call('GET', `${path}/posts`)).status, 404);
    assert.deepEqual((await describeTable('comments')).foreignKeys, [
      'FOREIGN KEY (post) REFERENCES records."Articles"(id) DEFERRABLE',
    ]);
    // Its own name in another case is not taken; a relation to itself may use the former name.
    const again = await change('Articles', { name: 'articles', fields: [relation('parent', 'Articles')] });
    assert.equal(again.fields[0]?.collection, 'articles');
    assert.equal(again.fields[0]?.id, renamed.fields[0]?.id);
    assert.ok((await describeTable('articles')).columns.parent);
  });

  test('answers 400 for a taken name and 404 for an unknown collection', async () => {
    await create('posts');
    await create('tags');
    assertRefused(await call('PATCH', `${path}/posts`, { name: 'Tags' }), 400, { name: 'is taken' });
    assert.equal((await call('PATCH', `${path}/nobody`, { name: 'x1' })).status, 404);
    assert.equal((await call('PATCH', `${path}/Posts`, { name: 'x1' })).status, 404);
  });

  test('answers 422 for members that cannot change', async () => {
    await create('tags');
    const { fields } = await create('posts', [text('a'), relation('tag', 'tags')]);
    const [a, tag] = fields;
    assertRefused(await call('PATCH', `${path}/posts`, { type: 'view' }), 422, {
      type: 'cannot change from base',
    });
    const body = {
      fields: [
        { ...a, type: 'number', options: {} },
        { ...tag, collection: 'posts' },
      ],
    };
    assertRefused(await call('PATCH', `${path}/posts`, body), 422, {
      'fields.a.type': 'cannot change from text: drop the field and add it again',
      'fields.tag.collection': 'cannot change from tags: drop the field and add it again',
    });
  });

  test('counts the rows that violate required, unique and narrower options', async () => {
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
      const answer = await call('PATCH', `${path}/posts`, { fields: changed });
      return answer.status === 422 ? answer.body.details : answer.status;
    };
    const rowsAgainst = (place: string, count: number) => ({
      [place]: count === 1 ? '1 row violates it' : `${count} rows violate it`,
    });
    const missing = (name: string, count: number) => ({
      [`fields.${name}.required`]: count === 1 ? '1 record has no value' : `${count} records have no value`,
    });
    const cases: [string, object, unknown][] = [
      ['a', { required: true }, missing('a', 1)],
      ['n', { required: true }, missing('n', 1)],
      ['m', { required: true }, missing('m', 2)],
      ['j', { required: true }, missing('j', 3)],
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
    assertRefused(await call('PATCH', `${path}/posts`, { fields: added }), 422, missing('later', 4));
  });

  test('changes options that the data satisfies, and back', async () => {
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

  test('counts a text that is too long for an index as a unique violation', async () => {
    const { fields } = await create('posts', [text('a')]);
    await rows(
      "insert into records.posts select '1', 1, 1, string_agg(md5(i::text), '') from generate_series(1, 100) i",
    );
    const body = { fields: [{ ...fields[0], options: { unique: true } }] };
    assertRefused(await call('PATCH', `${path}/posts`, body), 422, {
      'fields.a.options.unique': '1 row violates it',
    });
  });

  test('checks a pattern against every row in a large table', async () => {
    const { fields } = await create('posts', [text('a')]);
    await rows(
      "insert into records.posts select lpad(i::text, 5, '0'), 1, 1, 'v' || i from generate_series(1, 4500) i",
    );
    const body = { fields: [{ ...fields[0], options: { pattern: '[0-8]$' } }] };
    assertRefused(await call('PATCH', `${path}/posts`, body), 422, {
      'fields.a.options.pattern': '450 rows violate it',
    });
  });

  test('applies two parallel changes', async () => {
    await create('posts', [text('a')]);
    await Promise.all([change('posts', { list_rule: '' }), change('posts', { view_rule: '' })]);
    const { list_rule, view_rule } = collectionOf(await call('GET', `${path}/posts`));
    assert.deepEqual([list_rule, view_rule], ['', '']);
  });

  test('lets record writes pass, and finishes after them', async () => {
    await create('authors');
    await create('posts', [text('a')]);
    const changed = await database().transaction(async (query) => {
      await query({ text: "insert into records.posts values ('1', 1, 1, 'x')", values: [] });
      const change1 = change('posts', { fields: [text('a'), relation('author', 'authors')] });
      // This is longer than one wait for the lock, so that writes pass in the meantime.
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
