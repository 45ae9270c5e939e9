import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

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
    created_at: is.now,
    updated_at: is.now,
    ...more,
  },
});

/** Contract §2: definitions are returned as the JSON-encoded string; each has an id. */
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
          json: collection(`with_${type}`, {
            fields: field({
              ...definition,
              required: 'required' in definition,
              options: is.containing('options' in definition ? definition.options : {}),
            }),
          }),
        },
        spec: 'interface §2.2',
      }),
    ),
    {
      name: 'its fields as JSON text',
      ...create(base('as_text', { fields: JSON.stringify([definitions.bool]) })),
      expect: { status: 201, json: collection('as_text', { fields: field(definitions.bool) }) },
      spec: 'contract §2',
    },
    {
      name: 'a relation that says nothing of cascade sets null',
      ...create(base('by_default', { fields: [{ name: 'target', type: 'relation', collection: 'targets' }] })),
      expect: { status: 201, json: collection('by_default', { fields: field({ options: { cascade: 'setNull' } }) }) },
      spec: 'interface §2.2',
    },
    {
      name: 'a relation to the collection itself',
      ...create(base('tree', { fields: [{ name: 'parent', type: 'relation', collection: 'tree' }] })),
      expect: { status: 201, json: collection('tree', { fields: field({ collection: 'tree' }) }) },
      spec: 'contract §2',
    },
    {
      name: 'rules that are given are kept, those left out are null',
      ...create(base('ruled', { list_rule: '', delete_rule: '', view_rule: null })),
      expect: { status: 201, json: collection('ruled', { list_rule: '', delete_rule: '' }) },
      spec: 'contract §8',
    },
    {
      name: 'the list has them all',
      as: 'admin',
      request: 'GET /api/v1/collections',
      expect: { status: 200, json: { data: is.listWith(is.containing({ name: 'ruled', list_rule: '' })) } },
      spec: 'interface §4.2',
    },
    {
      name: 'one is read by its name',
      as: 'admin',
      request: 'GET /api/v1/collections/ruled',
      expect: { status: 200, json: collection('ruled', { list_rule: '', delete_rule: '' }) },
      spec: 'interface §4.2',
    },
    {
      name: 'one that does not exist',
      as: 'admin',
      request: 'GET /api/v1/collections/nowhere',
      expect: refused.notFound,
      spec: 'interface §7',
    },
  ]);
});

onEachTopology('a definition that is wrong is refused, and named', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', base('articles'));
  const text = (name: unknown) => ({ name, type: 'text' });
  const reserved = 'admin auth batch collections files health metrics realtime records settings v1 x'.split(' ');
  const badNames = { 'that starts with a digit': '1st', 'with a space': 'a b', 'of 64 characters': 'a'.repeat(64) };
  const badFields: Record<string, readonly [word: string, definition: unknown]> = {
    'without a name': ['name', { type: 'text' }],
    'with a name that is none': ['name', text('1st')],
    'with a system name': ['created', text('created')],
    'with a system name in other case': ['Updated_At', text('Updated_At')],
    'without a type': ['title', { name: 'title' }],
    'of an unknown type': ['title', { name: 'title', type: 'colour' }],
    'with an unknown key': ['colour', { ...text('title'), colour: 'red' }],
    'with an unknown option': ['colour', { ...text('title'), options: { colour: 'red' } }],
    'with an option of the wrong type': ['min', { ...text('title'), options: { min: 'two' } }],
    'whose min is above its max': ['min', { ...text('title'), options: { min: 3, max: 2 } }],
    'whose pattern is none': ['pattern', { ...text('title'), options: { pattern: '(' } }],
    'whose pattern needs more than linear time': ['pattern', { ...text('title'), options: { pattern: '(a+)\\1' } }],
    'with required that is no boolean': ['required', { ...text('title'), required: 'yes' }],
    'a select without values': ['values', { name: 'kind', type: 'select' }],
    'a relation without a collection': ['collection', { name: 'author', type: 'relation' }],
    'a relation to nowhere': ['nowhere', { name: 'author', type: 'relation', collection: 'nowhere' }],
    'a relation with an unknown cascade': [
      'cascade',
      { name: 'author', type: 'relation', collection: 'articles', options: { cascade: 'drop' } },
    ],
    'that is no object': ['fields', 'title'],
  };
  await runScenarios(t, target, [
    {
      name: 'a name that exists',
      ...create(base('articles')),
      expect: refused.duplicate,
      spec: 'interface §7',
    },
    {
      name: 'a name that exists in other case',
      ...create(base('Articles')),
      expect: refused.duplicate,
      spec: 'contract §1',
    },
    ...reserved.map(
      (name): Scenario => ({
        name: `the reserved name ${name}`,
        ...create(base(name)),
        expect: refused.invalid('name'),
        spec: 'contract §1',
      }),
    ),
    ...Object.entries(badNames).map(
      ([which, name]): Scenario => ({
        name: `a name ${which}`,
        ...create(base(name)),
        expect: refused.invalid('name'),
        spec: 'contract §1',
      }),
    ),
    {
      name: 'no name',
      ...create({ type: 'base', fields: [] }),
      expect: refused.invalid('name'),
      spec: 'contract §8',
    },
    {
      name: 'an unknown type',
      ...create({ name: 'drafts', type: 'table', fields: [] }),
      expect: refused.invalid('type'),
      spec: 'interface §7',
    },
    {
      name: 'an unknown key',
      ...create(base('drafts', { colour: 'red' })),
      expect: refused.invalid('colour'),
      spec: 'contract §8',
    },
    {
      name: 'a rule that is no text',
      ...create(base('drafts', { list_rule: 5 })),
      expect: refused.invalid('list_rule'),
      spec: 'contract §8',
    },
    {
      name: 'a rule that does not parse',
      ...create(base('drafts', { list_rule: 'title = = 5' })),
      expect: refused.invalid('list_rule'),
      spec: 'contract §8',
    },
    {
      name: 'fields that are no list',
      ...create(base('drafts', { fields: { name: 'title' } })),
      expect: refused.invalid('fields'),
      spec: 'contract §8',
    },
    {
      name: 'fields as text that is no JSON',
      ...create(base('drafts', { fields: '[{' })),
      expect: refused.invalid('fields'),
      spec: 'contract §8',
    },
    ...Object.entries(badFields).map(
      ([which, [word, definition]]): Scenario => ({
        name: `a field ${which}`,
        ...create(base('drafts', { fields: [definition] })),
        expect: refused.naming(word),
        spec: 'contract §8',
      }),
    ),
    {
      name: 'two fields of one name in different case',
      ...create(base('drafts', { fields: [text('title'), text('Title')] })),
      expect: refused.naming('Title'),
      spec: 'contract §8',
    },
    {
      name: 'after all that the name is still free',
      ...create(base('drafts', { fields: [text('title')] })),
      expect: { status: 201, json: collection('drafts') },
      spec: 'contract §8',
    },
  ]);
});
