import assert from 'node:assert/strict';
import { at, type JsonObject } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const path = '/api/v1/collections';
const spec = 'collections §8';

type Members = Pick<Scenario, 'body' | 'as'> & { readonly events?: readonly string[] };

const row = (name: string, request: string, expect: Scenario['expect'], more: Partial<Members> = {}): Scenario => ({
  name,
  as: 'admin',
  request: request.replace(' /', ` ${path}/`),
  expect,
  spec,
  ...more,
});

const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });

/** An answer with one definition that has at least these members. */
const field = (status: number, members: JsonObject): Scenario['expect'] => ({
  status,
  json: { data: is.containing({ id: is.text, ...members }) },
});

const lost = (count: string, ...names: readonly string[]) =>
  names.map((name) => is.matching(new RegExp(`"${name}".*\\b${count} values? `)));

async function fieldsOf(target: Target, collection: string): Promise<JsonObject[]> {
  const { json } = await (await target.admin()).get(`${path}/${collection}`);
  return JSON.parse(String(at(json, 'data.fields')));
}

const namesOf = async (target: Target, collection: string) =>
  (await fieldsOf(target, collection)).map(({ name }) => name);

onEachTopology('one field in a collection is added, changed and dropped', async (t, target) => {
  const admin = await target.admin();
  await admin.post(path, { name: 'members', type: 'auth', fields: [text('nick')] });
  await admin.post(path, {
    name: 'notes',
    type: 'base',
    fields: [text('title', { options: { min: 2, max: 80 } }), text('body'), { name: 'stars', type: 'number' }],
    list_rule: 'title != "secret"',
  });
  await admin.post(path, { name: 'notes_view', type: 'view', view_query: 'select id, body from notes' });
  await admin.post(path, {
    name: 'other',
    type: 'base',
    fields: [{ name: 'note', type: 'relation', collection: 'notes' }],
  });
  await admin.patch(`${path}/other`, { view_rule: 'note.title = "open"' });
  const first = await admin.create('notes', { title: 'One', body: 'x', stars: 1 });
  await admin.create('notes', { title: 'Two', body: '' });
  const [title] = await fieldsOf(target, 'notes');

  await t.test('rows', (t2) =>
    runScenarios(t2, target, [
      row('a new field', 'POST /notes/fields', field(201, { name: 'kind', type: 'select', required: false }), {
        body: { name: 'kind', type: 'select', options: { values: ['a', 'b'] } },
      }),
      row('a taken name', 'POST /notes/fields', refused.invalid('name'), { body: text('kind') }),
      row('a taken name in another case', 'POST /notes/fields', refused.invalid('name'), { body: text('TITLE') }),
      row('the id of another field', 'POST /notes/fields', refused.invalid('id'), {
        body: text('more', { id: title?.id }),
      }),
      row('an invalid name', 'POST /notes/fields', refused.invalid('name'), { body: text('1a') }),
      row('a reserved name', 'POST /notes/fields', refused.invalid('name'), { body: text('created') }),
      row('a missing type', 'POST /notes/fields', refused.invalid('type'), { body: { name: 'more' } }),
      row('an empty body', 'POST /notes/fields', refused.invalid('name', 'type'), { body: {} }),
      row('an invalid option', 'POST /notes/fields', refused.invalid('options.min'), {
        body: text('more', { options: { min: 'x' } }),
      }),
      row('a relation to an unknown collection', 'POST /notes/fields', refused.invalid('collection'), {
        body: { name: 'more', type: 'relation', collection: 'nowhere' },
      }),
      row('a required field over records', 'POST /notes/fields', refused.invalid('required'), {
        body: text('more', { required: true }),
      }),
      row('a list of definitions', 'POST /notes/fields', refused.malformed, { body: [text('more')] }),
      row('an unknown collection', 'POST /nowhere/fields', refused.notFound, { body: text('more') }),

      row(
        'a changed option among unchanged ones',
        'PATCH /notes/fields/title',
        field(200, { id: title?.id, options: is.containing({ min: 2, max: 40 }) }),
        { body: { options: { max: 40 } } },
      ),
      row(
        'an option that null resets to its default',
        'PATCH /notes/fields/title',
        field(200, { options: { encrypted: false, unique: false, max: 40 } }),
        { body: { options: { min: null } } },
      ),
      row('an option narrower than the records', 'PATCH /notes/fields/title', refused.invalid('options.max'), {
        body: { options: { max: 2 } },
      }),
      row('a new name for a field', `PATCH /notes/fields/${title?.id}`, field(200, { id: title?.id, name: 'label' }), {
        body: { name: 'label' },
      }),
      row('rules of the collection follow', 'GET /notes', {
        status: 200,
        json: { data: is.containing({ list_rule: 'label != "secret"' }) },
      }),
      row('rules of other collections follow', 'GET /other', {
        status: 200,
        json: { data: is.containing({ view_rule: 'note.label = "open"' }) },
      }),
      row('the old name', 'PATCH /notes/fields/title', refused.notFound, { body: {} }),
      row('a name in another case', 'PATCH /notes/fields/Label', refused.notFound, { body: {} }),
      row('another type', 'PATCH /notes/fields/stars', refused.invalid('type'), { body: { type: 'text' } }),
      row('another id', 'PATCH /notes/fields/stars', refused.invalid('id'), { body: { id: 'other' } }),
      row('the name of another field', 'PATCH /notes/fields/stars', refused.invalid('name'), {
        body: { name: 'Body' },
      }),
      row('options that are not an object', 'PATCH /notes/fields/stars', refused.invalid('options'), {
        body: { options: [] },
      }),
      row('an unknown member', 'PATCH /notes/fields/stars', refused.invalid('colour'), { body: { colour: 'red' } }),
      row('a definition as it was read', 'PATCH /notes/fields/label', field(200, { name: 'label' }), {
        body: { ...title, name: 'label', options: { max: 40 } },
      }),

      row(
        'a drop of a field that rules name',
        'DELETE /notes/fields/label',
        refused.invalid('list_rule', 'other.view_rule'),
      ),
      row('a drop of a field that a view reads', 'DELETE /notes/fields/body', refused.naming('notes_view')),
      row('a new field for a view', 'POST /notes_view/fields', refused.invalid('fields'), {
        body: text('more'),
      }),
      row('a change of a field of a view', 'PATCH /notes_view/fields/body', refused.invalid('fields'), {
        body: { required: true },
      }),
      row('a drop of a field of a view', 'DELETE /notes_view/fields/body', refused.invalid('fields')),
      row('a drop of a field with a value, with a warning', 'DELETE /notes/fields/stars', {
        status: 200,
        json: { data: null, warnings: lost('1', 'stars') },
      }),
      row('a second drop', 'DELETE /notes/fields/stars', refused.notFound),
      row('a drop of a field without values, without a warning', 'DELETE /notes/fields/kind', {
        status: 200,
        json: { data: null },
      }),
      row('a drop of a system column', 'DELETE /notes/fields/id', refused.notFound),

      row(
        'changed options of a system field',
        'PATCH /members/fields/email',
        field(200, { system: true, required: true, options: is.containing({ max: 100 }) }),
        { body: { options: { max: 100 } } },
      ),
      row('a new name for a system field', 'PATCH /members/fields/email', refused.invalid('name'), {
        body: { name: 'mail' },
      }),
      row('another type for a system field', 'PATCH /members/fields/verified', refused.invalid('type'), {
        body: { type: 'text' },
      }),
      row('a drop of a system field', 'DELETE /members/fields/verified', refused.invalid('verified')),

      row('a guest', 'POST /notes/fields', refused.unauthenticated, { as: 'guest', body: text('more') }),
      row('a user', 'DELETE /notes/fields/body', refused.forbidden, { as: 'user' }),
      row('another method', 'GET /notes/fields', refused.methodNotAllowed('POST')),
    ]),
  );

  await t.test(`the fields' order is kept [${spec}]`, async () => {
    assert.deepEqual(await namesOf(target, 'notes'), ['label', 'body']);
    assert.deepEqual(at((await target.guest.get(`/api/v1/notes/${first.id}`)).json, 'data.label'), 'One');
  });

  await t.test(`a change that changes nothing writes nothing [${spec}]`, async () => {
    const audited = async () =>
      at((await admin.get('/api/v1/admin/audit?action=collections.update')).json, 'totalItems');
    const before = [await admin.get(`${path}/notes`), await audited()] as const;
    await admin.patch(`${path}/notes/fields/label`, { name: 'label', required: false });
    await admin.patch(`${path}/notes`, { list_rule: 'label != "secret"' });
    assert.deepEqual((await admin.get(`${path}/notes`)).json, before[0].json);
    assert.equal(await audited(), before[1]);
  });
});

onEachTopology('parallel field changes all take effect', async (t, target) => {
  const admin = await target.admin();
  await admin.post(path, { name: 'crowd', type: 'base', fields: [text('a'), text('b'), text('gone')] });
  await t.test(`fields are added, changed and dropped at once [${spec}]`, async () => {
    const fields = `${path}/crowd/fields`;
    const answers = await Promise.all([
      ...['c', 'd', 'e', 'same', 'same'].map((name) => admin.send('POST', fields, { body: text(name) })),
      admin.send('PATCH', `${fields}/a`, { body: { name: 'z' } }),
      admin.send('PATCH', `${fields}/b`, { body: { options: { max: 3 } } }),
      admin.send('DELETE', `${fields}/gone`),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 200, 200, 201, 201, 201, 201, 422]);
    const names = await namesOf(target, 'crowd');
    assert.deepEqual(names.slice(0, 2), ['z', 'b']);
    assert.deepEqual(names.slice(2).sort(), ['c', 'd', 'e', 'same']);
  });
});

onEachTopology('a change that drops values reports their number', async (t, target) => {
  const admin = await target.admin();
  const kinds = { name: 'kinds', type: 'select', options: { values: ['a', 'b'], multiple: true } };
  const kept = text('kept');
  const fields = [
    kept,
    text('note'),
    { name: 'done', type: 'bool' },
    kinds,
    { name: 'meta', type: 'json' },
    text('empty'),
  ];
  await admin.post(path, { name: 'lossy', type: 'base', fields, create_rule: '', update_rule: '', delete_rule: '' });
  await admin.create('lossy', { kept: 'x', note: 'x', done: false, kinds: ['a', 'b'], meta: [] });
  await admin.create('lossy', { kept: 'x', note: 'y', kinds: [], meta: { a: 1 } });
  await admin.create('lossy', { note: '' });
  await runScenarios(t, target, [
    row(
      'fields with values, with the number of values',
      'PATCH /lossy',
      {
        status: 200,
        json: {
          data: is.containing({ name: 'lossy' }),
          warnings: [...lost('2', 'note'), ...lost('1', 'done', 'kinds', 'meta')],
        },
      },
      { body: { fields: [kept, text('new')] } },
    ),
    row(
      'a change that drops nothing, without a warning',
      'PATCH /lossy',
      { status: 200, json: { data: is.anything } },
      {
        body: { fields: [{ ...kept, required: false }, text('newer')], list_rule: '' },
      },
    ),
    row('a renamed field, without a warning', 'PATCH /lossy/fields/kept', field(200, { name: 'held' }), {
      body: { name: 'held' },
    }),
  ]);
});
