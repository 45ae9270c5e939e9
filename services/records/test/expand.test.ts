import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordsFixture, type Sent, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { openStatementLog, type StatementLog } from './statement-log.ts';
import { testCollection } from './test-collection.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection }) as const;
const view = (rule: string | null) => ({
  rules: { list: null, view: rule, create: null, update: null, delete: null },
});

describe('expand', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  const ids = new Map<string, string>();
  const id = (name: string) => ids.get(name);
  let statements: StatementLog;

  before(async () => {
    statements = await openStatementLog(process.env.TEST_DATABASE_URL ?? '');
    const collections = [
      testCollection('organizations', [{ name: 'name' }], view('name != "hidden"')),
      testCollection('secrets', [{ name: 'name' }], view('')),
      testCollection('people', [
        { name: 'name' },
        relation('organization', 'organizations'),
        relation('secret', 'secrets'),
      ]),
      // A rule that follows relations, and one about the caller.
      testCollection('notes', [{ name: 'text' }, { name: 'owner' }, relation('by', 'people')], {
        ...view('owner = @request.auth.id && by.organization.name != "x"'),
      }),
      testCollection('posts', [
        { name: 'title' },
        relation('author', 'people'),
        relation('editor', 'people'),
        relation('own', 'notes'),
      ]),
      testCollection('chain', [{ name: 'name' }, relation('next', 'chain')]),
      testCollection('broken', [{ name: 'name' }], view('nothing = 1')),
      testCollection('shelves', [{ ...relation('posts', 'posts'), options: { cascade: 'setNull', multiple: true } }]),
      testCollection('links', [relation('r', 'broken'), relation('e', 'posts')]),
    ];
    records = await startRecords(collections, { statements });
    const make = async (key: string, collection: string, body: object) => {
      const { record, text } = await records.send('POST', `/api/${collection}`, { as: 'admin', body });
      assert.ok(record?.id, text);
      ids.set(key, record.id);
    };
    await make('core', 'organizations', { name: 'core' });
    await make('hidden', 'organizations', { name: 'hidden' });
    await make('secret', 'secrets', { name: 's' });
    await make('ada', 'people', { name: 'Ädä "}', organization: id('core'), secret: id('secret') });
    await make('zoe', 'people', { name: 'Zoe', organization: id('hidden') });
    await make('note', 'notes', { text: 'mine', owner: 'u1', by: id('ada') });
    await make('first', 'posts', { title: 'first', author: id('ada'), editor: id('zoe'), own: id('note') });
    await make('second', 'posts', { title: 'second', author: id('zoe') });
    await make('third', 'posts', { title: 'third' });
    for (const key of ['shelf', 'other shelf'])
      await make(key, 'shelves', { posts: [id('third'), id('first'), id('second')] });
    await make('broken', 'broken', { name: 'b' });
    await make('link', 'links', { r: id('broken'), e: id('first') });
    await make('c7', 'chain', { name: '7' });
    for (const step of [6, 5, 4, 3, 2, 1, 0])
      await make(`c${step}`, 'chain', { name: String(step), next: id(`c${step + 1}`) });
    await records.database.query({
      text: 'update records.chain set next = $1 where name = $2',
      values: [id('c0'), '7'],
    });
  });
  after(async () => {
    await records?.stop();
    await statements?.close();
  });

  /** Returns the members in `expand` as a tree of names. */
  const treeOf = (record: unknown): unknown => {
    const { expand } = record as { expand?: Record<string, unknown> };
    return expand && Object.fromEntries(Object.entries(expand).map(([name, value]) => [name, treeOf(value) ?? null]));
  };

  const get = async (path: string, sent?: Sent) => {
    const { record, status, text } = await records.send('GET', `/api/${path}`, sent);
    assert.equal(status, 200, text);
    return record;
  };

  it('shows the whole target, as a get does', async () => {
    const { expand, ...post } = await get(`posts/${id('first')}?expand=author`);
    assert.deepEqual(post, await get(`posts/${id('first')}`));
    assert.deepEqual(expand, { author: await get(`people/${id('ada')}`) });
  });

  const trees: [string, Sent['as'], string, unknown][] = [
    ['first', 'guest', 'author', { author: null }],
    ['first', 'guest', 'author,editor', { author: null, editor: null }],
    ['first', 'guest', ' author , author ', { author: null }],
    ['first', 'guest', 'author.organization', { author: { organization: null } }],
    ['first', 'guest', 'author,author.organization', { author: { organization: null } }],
    ['first', 'guest', 'editor.organization', { editor: {} }],
    ['first', 'admin', 'editor.organization', { editor: { organization: null } }],
    ['first', 'user', 'author.secret', { author: {} }],
    ['first', 'admin', 'author.secret,author.organization', { author: { secret: null, organization: null } }],
    ['first', 'guest', 'own.by', {}],
    ['first', 'user', 'own.by', { own: { by: null } }],
    ['second', 'guest', 'editor,author', { author: null }],
    ['third', 'guest', 'author.organization', {}],
  ];
  for (const [record, as, expand, expected] of trees)
    it(`${expand} of the ${record} post shows ${as} ${JSON.stringify(expected)}`, async () => {
      const path = `expand=${encodeURIComponent(expand)}`;
      for (const _ of [1, 2]) assert.deepEqual(treeOf(await get(`posts/${id(record)}?${path}`, { as })), expected);
      for (const page of ['', '&perPage=500', '&page=1&perPage=7&skipTotal=1']) {
        const { rows, text } = await records.send('GET', `/api/posts?sort=title&${path}${page}`, { as });
        assert.equal(rows.length, 3, text);
        assert.deepEqual(treeOf(rows.find(({ title }) => title === record)), expected);
      }
    });

  it('shows no expand without the parameter', async () => {
    for (const search of ['', '?expand=', '?fields=expand.author'])
      assert.equal('expand' in (await get(`posts/${id('first')}${search}`)), false, search);
  });

  it('follows six relations, even in a circle, and refuses seven', async () => {
    const six = Array.from({ length: 6 }, () => 'next').join('.');
    let record: Record<string, unknown> | undefined = await get(`chain/${id('c3')}?expand=${six}`);
    const names: unknown[] = [];
    while (record) {
      names.push(record.name);
      const { expand }: { expand?: Record<string, Record<string, unknown>> } = record;
      record = expand?.next;
    }
    assert.deepEqual(names, ['3', '4', '5', '6', '7', '0', '1']);
    for (const path of ['chain', `chain/${id('c3')}`]) {
      const { status, json } = await records.send('GET', `/api/${path}?expand=${six}.next`);
      assert.deepEqual([status, json.error], [400, 'expand: a path follows at most 6 relations']);
    }
  });

  it('refuses a path that is not a relation, even for a missing record', async () => {
    for (const expand of ['title', 'nope', 'author.nope', 'author.name', 'author.', '.', 'author,', '__proto__', "'"]) {
      for (const path of ['posts', 'posts/absent']) {
        const { status, json } = await records.send('GET', `/api/${path}?expand=${encodeURIComponent(expand)}`);
        assert.deepEqual(
          [status, json.code, Object.keys(Object(json.details))],
          [400, 'malformed_request', ['expand']],
          expand,
        );
      }
    }
  });

  it('hides targets whose view rule cannot be compiled', async () => {
    assert.deepEqual(treeOf(await get(`links/${id('link')}?expand=r,e.author`)), { e: { author: null } });
    assert.deepEqual(treeOf(await get(`links/${id('link')}?expand=r,e.author`, { as: 'admin' })), {
      r: null,
      e: { author: null },
    });
  });

  const projections: [string, unknown][] = [
    ['title', { title: 'first' }],
    ['title,expand.author.name', { title: 'first', expand: { author: { id: 'ada', name: 'Ädä "}' } } }],
    ['expand.author.id', { expand: { author: { id: 'ada' } } }],
    [
      'expand.author.expand.organization.name',
      { expand: { author: { id: 'ada', expand: { organization: { id: 'core', name: 'core' } } } } },
    ],
    ['expand.*.name', { expand: { author: { id: 'ada', name: 'Ädä "}' }, editor: { id: 'zoe', name: 'Zoe' } } }],
    ['expand.nobody', { expand: {} }],
    ['expand.author.nothing, title ,nope,', { title: 'first', expand: { author: { id: 'ada' } } }],
  ];
  for (const [fields, expected] of projections)
    it(`fields=${fields} selects from the expansions`, async () => {
      const search = `expand=author.organization,editor&fields=${encodeURIComponent(fields)}`;
      const names = new Map([...ids].map(([name, value]) => [value, name]));
      const named = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value, (_, member) => names.get(member) ?? member));
      assert.deepEqual(named(await get(`posts/${id('first')}?${search}`)), { id: 'first', ...(expected as object) });
      const { rows } = await records.send('GET', `/api/posts?sort=title&perPage=1&${search}`);
      assert.deepEqual(named(rows), [{ id: 'first', ...(expected as object) }]);
    });

  it('expands * to every member that the list does not name', async () => {
    const whole = await get(`posts/${id('first')}?expand=author`);
    assert.deepEqual(await get(`posts/${id('first')}?expand=author&fields=*`), whole);
    const { expand, ...post } = await get(`posts/${id('first')}?expand=author&fields=*,expand.author.name`);
    assert.deepEqual({ ...post, expand: whole.expand }, whole);
    assert.deepEqual(expand, { author: { id: id('ada'), name: 'Ädä "}' } });
  });

  it('reads with one statement at any depth and number of rows', async () => {
    const six = Array.from({ length: 6 }, () => 'next').join('.');
    for (const path of [
      `chain/${id('c0')}?expand=${six}`,
      `chain?expand=${six}`,
      `posts?expand=author.organization,own.by`,
      `shelves?expand=posts.author.organization`,
    ]) {
      statements.take('');
      await records.send('GET', `/api/${path}`, { as: 'user' });
      assert.equal(statements.take('records.').length, 1, path);
    }
  });

  it("follows a change to a target's view rule", async () => {
    const path = `posts/${id('first')}?expand=author.organization`;
    assert.deepEqual(treeOf(await get(path)), { author: { organization: null } });
    await records.database.query({
      text: `with changed as (update system.collections set view_rule = 'name = "else"' where name = 'organizations')
        update system.versions set version = version + 1 where name = 'schema'`,
      values: [],
    });
    await records.send('GET', '/api/nowhere');
    assert.deepEqual(treeOf(await get(path)), { author: {} });
  });

  it('refuses more relations than the planner handles in reasonable time', async () => {
    const fields = Array.from({ length: 60 }, (_, index) => relation(`r${index}`, 'chain'));
    await records.create(testCollection('wide', fields));
    await records.send('POST', '/api/wide', { body: { r1: id('c1') } });
    const some = (count: number) => fields.slice(0, count).map(({ name }) => name);
    const { rows } = await records.send('GET', `/api/wide?expand=${some(50)}`);
    assert.deepEqual(rows.map(treeOf), [{ r1: null }]);
    const { status, json } = await records.send('GET', `/api/wide?expand=${some(51)}`);
    assert.deepEqual([status, json.error], [400, 'expand: at most 50 relations can be expanded at once']);
  });
});
