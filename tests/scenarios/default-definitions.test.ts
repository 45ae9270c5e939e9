import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { several } from './tagged-posts.ts';

const spec = 'fields §2.8';
const collections = '/api/v1/collections';

onEachTopology('a default is checked when its field is defined', async (t, target) => {
  const admin = await target.admin();
  const refusal = (field: object): Scenario => {
    const { type, options } = field as { type: string; options?: object };
    return {
      name: `${type} ${JSON.stringify(options ?? field)}`,
      as: 'admin',
      request: `POST ${collections}`,
      body: { name: 'refused', type: 'base', fields: [{ name: 'a', ...field }] },
      expect: refused.invalid(options ? 'fields.a.options.default' : 'fields.a.default'),
      spec,
    };
  };
  await admin.post(collections, { name: 'plain', type: 'base', fields: [] });
  await runScenarios(t, target, [
    refusal({ type: 'number', options: { default: 'many' } }),
    refusal({ type: 'number', options: { default: 5, max: 4 } }),
    refusal({ type: 'number', options: { default: '@now' } }),
    refusal({ type: 'text', options: { default: 'A', pattern: '^[a-z]+$' } }),
    refusal({ type: 'text', required: true, options: { default: '' } }),
    refusal({ type: 'select', options: { values: ['a'], default: 'b' } }),
    refusal({ type: 'date', options: { default: 'tomorrow' } }),
    refusal({ type: 'vector', options: { dimensions: 2, default: [1] } }),
    refusal({ type: 'password', options: { default: 'secret' } }),
    refusal({ type: 'file', options: { default: 'a.png' } }),
    refusal({ type: 'autodate', options: { default: 1 } }),
    refusal({ type: 'relation', collection: 'plain', options: { default: '@request.auth.id' } }),
    refusal({ type: 'text', options: { encrypted: true, default: 'enc:1:abc' } }),
    refusal({ type: 'number', default: 1 }),
    refusal({ type: 'text', options: { default: '@random(^a)' } }),
    refusal({ type: 'text', options: { default: '@random([a-z]{1001})' } }),
    refusal({ type: 'text', options: { max: 3, default: '@random([a-z]{4})' } }),
    refusal({ type: 'url', options: { default: '@random([a-z]{4})' } }),
    {
      name: 'no address as the default, where records are not accounts',
      as: 'admin',
      request: `POST ${collections}`,
      body: {
        name: 'refused',
        type: 'base',
        fields: [{ name: 'email', type: 'email', options: { default: '@none' } }],
      },
      expect: refused.invalid('fields.email.options.default'),
      spec,
    },
    {
      name: 'another address as the default of accounts',
      as: 'admin',
      request: `POST ${collections}`,
      body: {
        name: 'refused',
        type: 'auth',
        fields: [{ name: 'email', type: 'email', options: { default: 'a@b.co' } }],
      },
      expect: refused.invalid('fields.email.options.default'),
      spec,
    },
    {
      name: 'the default of a field that every auth collection has',
      as: 'admin',
      request: `POST ${collections}`,
      body: { name: 'refused', type: 'auth', fields: [{ name: 'verified', type: 'bool', options: { default: true } }] },
      expect: refused.invalid('fields.verified.options.default'),
      spec,
    },
  ]);

  await t.test('changing one field sets, checks and removes it', async () => {
    const fields = `${collections}/plain/fields`;
    const added = await admin.post(fields, { name: 'n', type: 'number', options: { default: 2 } });
    const path = `${fields}/${textAt(added, 'id')}`;
    const isTaken = async (value: number | null) => (await target.guest.create('plain', {})).n === value;
    await eventually('creates take the default', () => isTaken(2));
    const { status, json } = await admin.send('PATCH', path, { body: { options: { max: 1 } } });
    assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['options.default']]);
    await admin.patch(path, { options: { default: null } });
    await eventually('creates take no default', () => isTaken(null));
  });
});

onEachTopology("a default's record exists when its field is defined", async (t, target) => {
  const admin = await target.admin();
  await admin.define('tags', []);
  const [a, b] = [await admin.create('tags', {}), await admin.create('tags', {})];
  const one = (value: unknown) => ({ name: 'tag', type: 'relation', collection: 'tags', options: { default: value } });
  const list = (value: unknown) => several('tags', 'tags', { default: value });
  await admin.define('posts', [one(a.id), list([b.id, a.id])]);

  const create = { name: 'refused', type: 'base' };
  const refusal = (name: string, request: string, body: object, place: string): Scenario => ({
    name,
    as: 'admin',
    request: `${request.split(' ')[0]} ${collections}${request.split(' ')[1] ?? ''}`,
    body,
    expect: refused.invalid(place),
    spec,
  });
  const [ofTag, ofTags] = ['fields.tag.options.default', 'fields.tags.options.default'];
  const self = { name: 'tag', type: 'relation', collection: 'refused', options: { default: a.id } };
  await runScenarios(t, target, [
    refusal('a record that is not there', 'POST', { ...create, fields: [one(unknownId)] }, ofTag),
    refusal('no id of a record', 'POST', { ...create, fields: [one('tea')] }, ofTag),
    refusal('a list with a record that is not there', 'POST', { ...create, fields: [list([a.id, unknownId])] }, ofTags),
    refusal('the caller in a list', 'POST', { ...create, fields: [list(['@request.auth.id'])] }, ofTags),
    refusal('a record of another collection', 'POST', { ...create, fields: [self] }, ofTag),
    refusal('a change of the collection', 'PATCH /posts', { fields: [one(unknownId), list([])] }, ofTag),
    refusal('a change of the field', 'PATCH /posts/fields/tags', { options: { default: ['x'] } }, 'options.default'),
    refusal('a new field', 'POST /posts/fields', { ...one(unknownId), name: 'next' }, 'options.default'),
  ]);

  await t.test('creates take the records', async () => {
    const post = await target.guest.create('posts', {});
    assert.deepEqual([post.tag, post.tags], [a.id, [b.id, a.id]]);
  });

  await t.test('an unchanged default is not checked again', async () => {
    await admin.delete(`/api/v1/tags/${a.id}`);
    await admin.patch(`${collections}/posts`, {
      fields: [one(a.id), list([b.id, a.id]), { name: 'n', type: 'number' }],
    });
    const { status, json } = await target.guest.send('POST', '/api/v1/posts', { body: { tags: [] } });
    assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, ['tag']]);
  });

  await t.test('a snapshot is applied before its records exist [collections §11.5]', async () => {
    const fields = [{ ...one(unknownId), collection: 'later' }];
    const document = {
      version: 1,
      collections: [
        { ...create, name: 'first', fields },
        { ...create, name: 'later' },
      ],
    };
    const { created } = await admin.post('/api/v1/admin/migrations/apply', { snapshot: document }, 200);
    assert.deepEqual(created, ['first', 'later']);
  });
});
