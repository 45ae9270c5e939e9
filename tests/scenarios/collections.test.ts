import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const base = (name: string, more: object = {}) => ({ name, type: 'base', fields: [], ...more });

const collection = (name: string, more: object = {}) => ({
  data: {
    id: is.uuid,
    name,
    type: 'base',
    fields: is.text,
    view_query: null,
    list_rule: null,
    view_rule: null,
    create_rule: null,
    update_rule: null,
    delete_rule: null,
    history_enabled: false,
    durability: 'full',
    created_at: is.now,
    updated_at: is.now,
    etag: is.matching(/^W\/"[\w-]{27}"$/),
    guests: ['list', 'view', 'create', 'update', 'delete'],
    ...more,
  },
});

/** The answer to a create, with the warning that guests may write (collections §3.2). */
const made = (name: string, more: object = {}, verbs = 'create, update and delete') => ({
  ...collection(name, more),
  warnings: is.listWith(is.matching(new RegExp(`^Guests may ${verbs} records in ${name}: `))),
});

/** Definitions are returned as JSON text, each with an id (collections §2.1, fields §1.2). */
const field = (members: object) => is.jsonOf(is.listWith(is.containing({ id: is.text, ...members })));

const create = (body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: 'POST /api/v1/collections',
  body,
});

onEachTopology('an admin defines collections', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', base('targets'));
  const definitions = {
    text: {
      name: 'title',
      type: 'text',
      required: true,
      options: { min: 2, max: 80, pattern: '^[A-Z]', unique: true },
    },
    number: { name: 'stars', type: 'number', options: { min: 0, max: 5, unique: true } },
    bool: { name: 'live', type: 'bool' },
    date: { name: 'when', type: 'date' },
    select: { name: 'kinds', type: 'select', options: { values: ['news', 'essay'], multiple: true } },
    json: { name: 'meta', type: 'json' },
    relation: { name: 'target', type: 'relation', collection: 'targets', options: { cascade: 'restrict' } },
  };
  await runScenarios(t, target, [
    ...Object.entries(definitions).map(
      ([type, definition]): Scenario => ({
        name: `with a ${type} field`,
        ...create(base(`with_${type}`, { fields: [definition] })),
        expect: {
          status: 201,
          json: made(`with_${type}`, {
            fields: field({
              ...definition,
              required: 'required' in definition,
              options: is.containing('options' in definition ? definition.options : {}),
            }),
          }),
        },
        spec: 'fields §1.1',
      }),
    ),
    {
      name: 'fields as JSON text',
      ...create(base('as_text', { fields: JSON.stringify([definitions.bool]) })),
      expect: { status: 201, json: made('as_text', { fields: field(definitions.bool) }) },
      spec: 'collections §2.1',
    },
    {
      name: 'a relation without a cascade option, which sets null',
      ...create(base('by_default', { fields: [{ name: 'target', type: 'relation', collection: 'targets' }] })),
      expect: {
        status: 201,
        json: made('by_default', { fields: field({ options: { cascade: 'setNull', max: 0, multiple: false } }) }),
      },
      spec: 'records §7.1',
    },
    {
      name: 'a relation to the collection itself',
      ...create(base('tree', { fields: [{ name: 'parent', type: 'relation', collection: 'tree' }] })),
      expect: { status: 201, json: made('tree', { fields: field({ collection: 'tree' }) }) },
      spec: 'fields §1.5',
    },
    {
      name: 'stored rules, null where they are left out',
      ...create(base('ruled', { list_rule: '', delete_rule: '', view_rule: null })),
      expect: {
        status: 201,
        json: made(
          'ruled',
          { list_rule: '', delete_rule: '', guests: ['view', 'create', 'update'] },
          'create and update',
        ),
      },
      spec: 'collections §3.1',
    },
    {
      name: 'the list of collections',
      as: 'admin',
      request: 'GET /api/v1/collections',
      expect: { status: 200, json: { data: is.listWith(is.containing({ name: 'ruled', list_rule: '' })) } },
      spec: 'collections §4',
    },
    {
      name: 'a collection by its name',
      as: 'admin',
      request: 'GET /api/v1/collections/ruled',
      expect: {
        status: 200,
        json: collection('ruled', { list_rule: '', delete_rule: '', guests: ['view', 'create', 'update'] }),
      },
      spec: 'collections §4',
    },
    {
      name: 'an unknown collection',
      as: 'admin',
      request: 'GET /api/v1/collections/nowhere',
      expect: refused.notFound,
      spec: 'collections §4',
    },
  ]);
});

onEachTopology('an invalid definition is refused under its path', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', base('articles'));
  const text = (name: unknown) => ({ name, type: 'text' });
  const reserved = 'admin auth batch collections files health metrics realtime records settings v1 x'.split(' ');
  const badNames = { 'that starts with a digit': '1st', 'with a space': 'a b', 'of 64 characters': 'a'.repeat(64) };
  const badFields: Record<string, readonly [word: string, definition: unknown]> = {
    'without a name': ['name', { type: 'text' }],
    'with an invalid name': ['name', text('1st')],
    'with a system name': ['created', text('created')],
    'with a system name in another case': ['Updated_At', text('Updated_At')],
    'without a type': ['title', { name: 'title' }],
    'of an unknown type': ['title', { name: 'title', type: 'colour' }],
    'with an unknown key': ['colour', { ...text('title'), colour: 'red' }],
    'with an unknown option': ['colour', { ...text('title'), options: { colour: 'red' } }],
    'with an option of the wrong type': ['min', { ...text('title'), options: { min: 'two' } }],
    'whose min is above its max': ['min', { ...text('title'), options: { min: 3, max: 2 } }],
    'with an invalid pattern': ['pattern', { ...text('title'), options: { pattern: '(' } }],
    'whose pattern needs more than linear time': ['pattern', { ...text('title'), options: { pattern: '(a+)\\1' } }],
    'with required that is not a boolean': ['required', { ...text('title'), required: 'yes' }],
    'a select without values': ['values', { name: 'kind', type: 'select' }],
    'a relation without a collection': ['collection', { name: 'author', type: 'relation' }],
    'a relation to an unknown collection': ['nowhere', { name: 'author', type: 'relation', collection: 'nowhere' }],
    'a relation with an unknown cascade': [
      'cascade',
      { name: 'author', type: 'relation', collection: 'articles', options: { cascade: 'drop' } },
    ],
    'that is not an object': ['fields', 'title'],
  };
  await runScenarios(t, target, [
    {
      name: 'a taken name',
      ...create(base('articles')),
      expect: refused.duplicate,
      spec: 'collections §1.2',
    },
    {
      name: 'a taken name in another case',
      ...create(base('Articles')),
      expect: refused.duplicate,
      spec: 'collections §1.2',
    },
    ...reserved.map(
      (name): Scenario => ({
        name: `the reserved name ${name}`,
        ...create(base(name)),
        expect: refused.invalid('name'),
        spec: 'collections §1.3',
      }),
    ),
    ...Object.entries(badNames).map(
      ([which, name]): Scenario => ({
        name: `a name ${which}`,
        ...create(base(name)),
        expect: refused.invalid('name'),
        spec: 'collections §1.2',
      }),
    ),
    {
      name: 'a missing name',
      ...create({ type: 'base', fields: [] }),
      expect: refused.invalid('name'),
      spec: 'collections §1.2',
    },
    {
      name: 'an unknown type',
      ...create({ name: 'drafts', type: 'table', fields: [] }),
      expect: refused.invalid('type'),
      spec: 'collections §1.1',
    },
    {
      name: 'an unknown key',
      ...create(base('drafts', { colour: 'red' })),
      expect: refused.invalid('colour'),
      spec: 'collections §1.4',
    },
    {
      name: 'a rule that is not a text',
      ...create(base('drafts', { list_rule: 5 })),
      expect: refused.invalid('list_rule'),
      spec: 'collections §3.3',
    },
    {
      name: 'a rule that does not parse',
      ...create(base('drafts', { list_rule: 'title = = 5' })),
      expect: refused.invalid('list_rule'),
      spec: 'collections §3.3',
    },
    {
      name: 'fields that are not a list',
      ...create(base('drafts', { fields: { name: 'title' } })),
      expect: refused.invalid('fields'),
      spec: 'collections §2.1',
    },
    {
      name: 'fields as text that is not JSON',
      ...create(base('drafts', { fields: '[{' })),
      expect: refused.invalid('fields'),
      spec: 'collections §2.1',
    },
    ...Object.entries(badFields).map(
      ([which, [word, definition]]): Scenario => ({
        name: `a field ${which}`,
        ...create(base('drafts', { fields: [definition] })),
        expect: refused.naming(word),
        spec: 'fields §1.4',
      }),
    ),
    {
      name: 'two fields whose names differ only in case',
      ...create(base('drafts', { fields: [text('title'), text('Title')] })),
      expect: refused.naming('Title'),
      spec: 'fields §1.3',
    },
    {
      name: 'the name of a refused create, which is still free',
      ...create(base('drafts', { fields: [text('title')] })),
      expect: { status: 201, json: made('drafts') },
      spec: 'collections §5',
    },
  ]);
});
