import assert from 'node:assert/strict';
import type { Client } from '../harness/client.ts';
import type { JsonObject } from '../harness/json.ts';
import { is, Matcher } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const path = '/api/v1/collections';

const text = (name: string, options: object = {}, more: object = {}) => ({ name, type: 'text', options, ...more });

const make = async (admin: Client, name: string, fields: readonly object[], more: object = {}) => {
  const collection = await admin.post(path, { name, type: 'base', fields, ...more });
  const definitions: JsonObject[] = JSON.parse(String(collection.fields));
  return {
    id: String(collection.id),
    /** Returns the changed definition of a field. */
    field: (field: string, change: object = {}) => ({ ...definitions.find((one) => one.name === field), ...change }),
  };
};

const patch = (collection: string, body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: `PATCH ${path}/${collection}`,
  body,
});

/** 422 that names exactly this place, with the number of violating rows. */
const countsRows = (place: string, rows: number) => ({
  status: 422,
  json: is.containing({ code: 'validation_failed', details: { [place]: is.matching(new RegExp(`^${rows} rows? `)) } }),
});

onEachTopology('a collection is changed with its data', async (t, target) => {
  const admin = await target.admin();
  const { field } = await make(admin, 'notes', [
    text('title'),
    text('body'),
    { name: 'stars', type: 'number' },
    { name: 'kind', type: 'select', options: { values: ['a', 'b'] } },
  ]);
  const first = await admin.create('notes', { title: 'same', body: 'x', stars: 1, kind: 'a' });
  await admin.create('notes', { title: 'same', stars: 9, kind: 'b' });
  await admin.create('notes', { title: '', body: 'a longer text' });
  const rest = [field('body'), field('stars'), field('kind')];
  const record = (members: object) => ({ id: first.id, created: first.created, updated: is.number, ...members });
  await runScenarios(t, target, [
    {
      name: 'a field that becomes required over rows without a value',
      ...patch('notes', { fields: [field('title', { required: true }), ...rest] }),
      expect: countsRows('fields.title.required', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a field that becomes unique over duplicates',
      ...patch('notes', { fields: [field('title', { options: { unique: true } }), ...rest] }),
      expect: countsRows('fields.title.options.unique', 2),
      spec: 'collections §6.4',
    },
    {
      name: 'a text that becomes shorter than its rows',
      ...patch('notes', { fields: [field('title'), field('body', { options: { max: 3 } }), ...rest.slice(1)] }),
      expect: countsRows('fields.body.options.max', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a pattern that rows do not match',
      ...patch('notes', { fields: [field('title'), field('body', { options: { pattern: '^a' } }), ...rest.slice(1)] }),
      expect: countsRows('fields.body.options.pattern', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a number that becomes narrower than its rows',
      ...patch('notes', {
        fields: [field('title'), field('body'), field('stars', { options: { max: 5 } }), field('kind')],
      }),
      expect: countsRows('fields.stars.options.max', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a select that loses a value that is in use',
      ...patch('notes', {
        fields: [field('title'), field('body'), field('stars'), field('kind', { options: { values: ['a'] } })],
      }),
      expect: countsRows('fields.kind.options.values', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a new field that is required over rows',
      ...patch('notes', { fields: [field('title'), ...rest, text('must', {}, { required: true })] }),
      expect: countsRows('fields.must.required', 3),
      spec: 'collections §6.4',
    },
    {
      name: 'refused changes changed nothing',
      request: `GET /api/v1/notes/${first.id}`,
      expect: {
        status: 200,
        json: { data: record({ title: 'same', body: 'x', stars: 1, kind: 'a', updated: first.updated }) },
      },
      spec: 'collections §6.4',
    },
    {
      name: 'a renamed field keeps its data by its id, and two fields may swap names',
      ...patch('notes', {
        fields: [
          field('title', { name: 'body' }),
          field('body', { name: 'title' }),
          field('stars', { name: 'rank' }),
          field('kind'),
        ],
      }),
      expect: { status: 200 },
      spec: 'collections §6.2',
    },
    {
      name: 'the record has the renamed fields',
      request: `GET /api/v1/notes/${first.id}`,
      expect: { status: 200, json: { data: record({ body: 'same', title: 'x', rank: 1, kind: 'a' }) } },
      spec: 'records §2.1',
    },
    {
      name: 'a select that becomes multiple keeps its values',
      ...patch('notes', {
        fields: [
          field('title', { name: 'body' }),
          field('body', { name: 'title' }),
          field('kind', { options: { values: ['a', 'b', 'c'], multiple: true } }),
          text('more'),
        ],
      }),
      expect: { status: 200 },
      spec: 'collections §6.2',
    },
    {
      name: 'a dropped field is gone and a new one is empty',
      request: `GET /api/v1/notes/${first.id}`,
      expect: { status: 200, json: { data: record({ body: 'same', title: 'x', kind: ['a'], more: null }) } },
      spec: 'collections §6.2',
    },
    {
      name: 'the type of a field',
      ...patch('notes', { fields: [field('title', { name: 'body', type: 'number', options: {} })] }),
      expect: refused.naming('cannot change'),
      spec: 'collections §6.3',
    },
    {
      name: 'the type of a collection',
      ...patch('notes', { type: 'auth' }),
      expect: refused.invalid('type'),
      spec: 'collections §1.1',
    },
    { name: 'an unknown collection', ...patch('nowhere', {}), expect: refused.notFound, spec: 'collections §4' },
    { name: 'as a user', ...patch('notes', {}), as: 'user', expect: refused.forbidden, spec: 'http §6.3' },
  ]);
});

onEachTopology('rules and relations follow renames, and needed fields and collections stay', async (t, target) => {
  const admin = await target.admin();
  const writers = await make(admin, 'writers', [text('name'), text('spare')], { list_rule: 'name != ""' });
  const { field } = await make(
    admin,
    'articles',
    [text('title'), { name: 'writer', type: 'relation', collection: 'writers', options: { cascade: 'cascade' } }],
    { view_rule: 'writer.name = "Ada"' },
  );
  const ada = await admin.create('writers', { name: 'Ada' });
  const article = await admin.create('articles', { title: 'One', writer: ada.id });
  const rulesOf = (members: Readonly<Record<string, unknown>>) => ({
    status: 200,
    json: is.containing({ data: is.containing(members) }),
  });
  await runScenarios(t, target, [
    {
      name: 'a drop of a field that rules name',
      ...patch('writers', { fields: [writers.field('spare')] }),
      expect: {
        status: 422,
        json: is.containing({
          details: { list_rule: is.matching(/"name"/), 'articles.view_rule': is.matching(/"name"/) },
        }),
      },
      spec: 'collections §6.6',
    },
    {
      name: 'a rule that names an unknown field',
      ...patch('writers', { list_rule: 'nobody = 1' }),
      expect: refused.invalid('list_rule'),
      spec: 'collections §6.6',
    },
    {
      name: 'a collection and one of its fields are renamed',
      ...patch(writers.id, {
        name: 'authors',
        fields: [writers.field('name', { name: 'label' }), writers.field('spare')],
      }),
      expect: rulesOf({ name: 'authors', list_rule: 'label != ""' }),
      spec: 'collections §6.5',
    },
    {
      name: 'relations and rules of other collections follow',
      as: 'admin',
      request: `GET ${path}/articles`,
      expect: rulesOf({
        view_rule: 'writer.label = "Ada"',
        fields: is.jsonOf(is.listWith(is.containing({ name: 'writer', collection: 'authors' }))),
      }),
      spec: 'collections §6.5',
    },
    {
      name: 'the renamed rules are checked',
      request: `GET /api/v1/articles/${article.id}`,
      expect: { status: 200, json: { data: is.containing({ writer: ada.id }) } },
      spec: 'collections §6.5',
    },
    {
      name: 'the old name is unknown',
      request: 'GET /api/v1/writers',
      expect: refused.notFound,
      spec: 'collections §6.5',
    },
    {
      name: 'a name that another collection has',
      ...patch('authors', { name: 'Articles' }),
      expect: refused.duplicate,
      spec: 'collections §1.2',
    },
    {
      name: 'a reserved name',
      ...patch('authors', { name: 'files' }),
      expect: refused.invalid('name'),
      spec: 'collections §1.3',
    },
    {
      name: 'a collection that a relation refers to is not dropped',
      as: 'admin',
      request: `DELETE ${path}/authors`,
      expect: {
        ...refused.conflict,
        json: is.containing({ details: { blockers: [{ collection: 'articles', field: 'writer' }] } }),
      },
      spec: 'collections §7.2',
    },
    {
      name: 'a cascade works under the new name',
      as: 'admin',
      request: `DELETE /api/v1/authors/${ada.id}`,
      expect: { status: 200 },
      events: ['articles.delete', 'authors.delete'],
      spec: 'records §7.1',
    },
    {
      name: 'a drop of the relation',
      ...patch('articles', { view_rule: null, fields: [field('title')] }),
      expect: { status: 200 },
      spec: 'collections §7.2',
    },
    {
      name: 'a collection without relations to it is dropped',
      as: 'admin',
      request: `DELETE ${path}/${writers.id}`,
      expect: { status: 200, json: { data: null } },
      spec: 'collections §7.1',
    },
    {
      name: 'its records are gone',
      request: 'GET /api/v1/authors',
      expect: refused.notFound,
      spec: 'collections §7.1',
    },
    {
      name: 'a second drop',
      as: 'admin',
      request: `DELETE ${path}/authors`,
      expect: refused.notFound,
      spec: 'collections §7.1',
    },
  ]);
});

onEachTopology('concurrent changes all take effect', async (t, target) => {
  const admin = await target.admin();
  const { field } = await make(admin, 'busy', [text('title')]);

  await t.test('of rules and fields of one collection [collections §9.1]', async () => {
    const rules = ['list_rule', 'view_rule', 'create_rule', 'update_rule', 'delete_rule'];
    const bodies = [
      ...rules.map((rule) => ({ [rule]: 'title != "x"' })),
      { history_enabled: true },
      { fields: [field('title', { name: 'label' })] },
    ];
    const answers = await Promise.all(bodies.map((body) => admin.send('PATCH', `${path}/busy`, { body })));
    // Rules that arrive after the rename must use the new name; earlier ones follow it.
    for (const { status, text: body } of answers) assert.ok([200, 422].includes(status), body);
    const refusedRules = rules.filter((_, n) => answers[n]?.status === 422);
    const expected = Object.fromEntries(
      rules.map((rule) => [rule, refusedRules.includes(rule) ? null : 'label != "x"']),
    );
    const answer = await admin.get(`${path}/busy`);
    const fits = new Matcher('the fields', (value) => String(value).includes('"label"'));
    assert.deepEqual(
      [
        is.containing({ data: is.containing({ ...expected, history_enabled: true, fields: fits }) }).fits(answer.json),
        answer.text,
      ],
      [true, answer.text],
    );
  });

  await t.test('of collections, indexes and fields [collections §9.1]', async () => {
    const made = await Promise.all(
      [1, 2, 3, 4].flatMap((n) => [
        admin.send('POST', path, { body: { name: `beside${n}`, fields: [text('a')] } }),
        admin.send('POST', '/api/v1/admin/collections/busy/indexes', {
          body: { name: `i${n}`, columns: ['label', 'id'].slice(0, (n % 2) + 1) },
        }),
      ]),
    );
    assert.deepEqual(
      made.map(({ status }) => status),
      Array.from({ length: 8 }, () => 201),
    );
    const { text: listed } = await admin.get('/api/v1/admin/collections/busy/indexes');
    assert.equal(listed.match(/"name":"i\d"/g)?.length, 4);
  });

  await t.test('during writes of records, no write is lost or incomplete [collections §9.3]', async () => {
    await admin.patch(`${path}/busy`, { create_rule: null, list_rule: null });
    const definition = field('title', { name: 'label' });
    let isOver = false;
    const write = async (): Promise<number> => {
      let written = 0;
      while (!isOver) {
        const { status, text: body } = await target.guest.send('POST', '/api/v1/busy', { body: { label: 'x' } });
        assert.equal(status, 201, body);
        written += 1;
      }
      return written;
    };
    const before = await admin.get('/api/v1/busy?perPage=1');
    const writers = [write(), write()];
    for (let n = 0; n < 4; n += 1) {
      await admin.patch(`${path}/busy`, { fields: [definition, { name: `extra${n}`, type: 'number' }] });
      await admin.patch(`${path}/busy`, { fields: [definition] });
    }
    isOver = true;
    const written = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
    const after = await admin.get('/api/v1/busy?perPage=1');
    const total = (json: unknown) => Number((json as { totalItems: number }).totalItems);
    assert.equal(total(after.json) - total(before.json), written);
    assert.deepEqual(Object.keys((after.json as { data: object[] }).data[0] ?? {}), [
      'id',
      'label',
      'created',
      'updated',
    ]);
  });
});
