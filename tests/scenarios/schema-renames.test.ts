import assert from 'node:assert/strict';
import { at, type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/admin/schema';
const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });

/** The files before the renames. None has ids, as files that people write. */
const writers = { name: 'writers', view_rule: 'name != ""', fields: [text('name', { required: true })] };
const articles = {
  name: 'articles',
  list_rule: null,
  view_rule: 'writer.name = "Ada"',
  history_enabled: true,
  fields: [text('title'), { name: 'writer', type: 'relation', collection: 'writers' }],
  indexes: [{ name: 'by_title', columns: ['title', 'id'] }],
};
const headlines = { name: 'headlines', type: 'view', list_rule: null, view_query: 'select id, title from articles' };
const webhook = (events: readonly string[]) => ({ name: 'CRM', url: 'https://crm.example.com/hook', events });
const before = { version: 1, collections: [writers, articles, headlines], webhooks: [webhook(['articles.*'])] };

const authors = {
  name: 'authors',
  renamedFrom: 'writers',
  view_rule: 'label != ""',
  fields: [text('label', { required: true, renamedFrom: 'name' })],
};
const posts = {
  ...articles,
  name: 'posts',
  renamedFrom: 'articles',
  view_rule: 'writer.label = "Ada"',
  fields: [text('headline', { renamedFrom: 'title' }), { name: 'writer', type: 'relation', collection: 'authors' }],
  indexes: [{ name: 'by_title', columns: ['headline', 'id'] }],
};
const titles = { ...headlines, name: 'titles', renamedFrom: 'headlines', view_query: 'select id, headline from posts' };
const after = { version: 1, collections: [authors, posts, titles], webhooks: [webhook(['posts.*'])] };

onEachTopology('schema files rename what had another name', async (t, target) => {
  const admin = await target.admin();
  const planOf = (schema: object) => admin.post(`${path}/plan`, { schema }, 200);
  const apply = async (schema: object) =>
    admin.post(`${path}/apply`, { schema, hash: (await planOf(schema)).hash, allow_drop: [] }, 200);
  const indexes = () =>
    inDatabase(
      target,
      `select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'records' and c.relkind = 'i' order by 1`,
      [],
    );
  await apply(before);
  const ada = await admin.create('writers', { name: 'Ada' });
  const one = await admin.create('articles', { title: 'One', writer: ada.id });
  const indexesBefore = await indexes();

  await t.test('a plan shows renames and no drops [schema §3.2]', async () => {
    const plan = await planOf(after);
    assert.deepEqual(plan.drops, []);
    const changes = listAt(plan, 'changes').map(({ action, kind, name, from }) => [action, kind, name, from]);
    assert.deepEqual(changes, [
      ['rename', 'collection', 'authors', 'writers'],
      ['change', 'collection', 'authors', undefined],
      ['rename', 'field', 'authors.label', 'name'],
      ['rename', 'collection', 'posts', 'articles'],
      ['change', 'collection', 'posts', undefined],
      ['rename', 'field', 'posts.headline', 'title'],
      ['change', 'field', 'posts.writer', undefined],
      ['rename', 'collection', 'titles', 'headlines'],
      ['change', 'collection', 'titles', undefined],
      ['change', 'webhook', 'CRM', undefined],
    ]);
  });

  await t.test('an apply keeps records, history, relations and indexes [schema §3.2]', async () => {
    await apply(after);
    const { json } = await target.guest.get(`/api/v1/posts/${one.id}?expand=writer`);
    const { headline, writer, expand } = objectAt(json, 'data');
    assert.deepEqual([headline, writer, at(expand, 'writer.label')], ['One', ada.id, 'Ada']);
    const { json: history } = await admin.get(`/api/v1/posts/${one.id}/history`);
    assert.equal(at(listAt(history, 'data.data')[0], 'snapshot.headline'), 'One');
    const { json: rows } = await target.guest.get('/api/v1/titles');
    assert.deepEqual(
      listAt(rows, 'data').map((row) => row.headline),
      ['One'],
    );
    assert.deepEqual(await indexes(), indexesBefore, 'no index was built again');
    assert.equal((await admin.get('/api/v1/articles')).status, 404);
  });

  await t.test('after it, the former names change nothing, there and in a stack that never had them', async () => {
    assert.deepEqual(at(await planOf(after), 'changes'), []);
    assert.deepEqual(at(await apply(after), 'changes'), []);
    const fresh = { ...text('fresh'), renamedFrom: 'never' };
    const more = { name: 'drafts', renamedFrom: 'never', fields: [fresh] };
    const plan = await planOf({ ...after, collections: [...after.collections, more] });
    const changes: readonly JsonObject[] = listAt(plan, 'changes');
    assert.deepEqual(changes, [{ action: 'create', kind: 'collection', name: 'drafts' }]);
  });

  const refusedPlan = (collections: readonly object[], place: string, message: string) =>
    ({
      as: 'admin',
      request: `POST ${path}/plan`,
      body: { schema: { version: 1, collections } },
      expect: { ...refused.invalid(place), json: is.containing({ details: is.containing({ [place]: message }) }) },
      spec: 'schema §3.2',
    }) satisfies Partial<Scenario>;
  await runScenarios(t, target, [
    {
      name: 'a former name that another file has',
      ...refusedPlan(
        [authors, { ...posts, name: 'essays', renamedFrom: 'posts' }, posts, titles],
        'collections.essays.renamedFrom',
        'cannot be posts, which another definition describes',
      ),
    },
    {
      name: 'a former name that the stack has beside the new one',
      ...refusedPlan(
        [{ ...authors, renamedFrom: 'posts' }, titles],
        'collections.authors.renamedFrom',
        'cannot be posts: the stack has both posts and authors',
      ),
    },
    {
      name: 'a former name of two files',
      ...refusedPlan(
        [authors, { ...posts, name: 'essays', renamedFrom: 'posts' }, { name: 'notes', renamedFrom: 'posts' }, titles],
        'collections.notes.renamedFrom',
        'cannot be posts, which another definition describes',
      ),
    },
    {
      name: 'a former name of another type',
      ...refusedPlan(
        [authors, { name: 'people', type: 'auth', renamedFrom: 'posts' }, titles],
        'collections.people.type',
        'cannot change from base: give the file another id to drop it and make another',
      ),
    },
    {
      name: 'a former name that is not a text',
      ...refusedPlan(
        [{ ...authors, renamedFrom: 1 }, posts, titles],
        'collections.authors.renamedFrom',
        'must be a string',
      ),
    },
    {
      name: 'a former name of a field that the collection has beside the new one',
      ...refusedPlan(
        [authors, { ...posts, fields: [text('headline', { renamedFrom: 'writer' })] }, titles],
        'collections.posts.fields.headline.renamedFrom',
        'cannot be writer: the stack has both writer and headline',
      ),
    },
    {
      name: 'a former name of a field that another definition has',
      ...refusedPlan(
        [authors, { ...posts, fields: [...posts.fields, text('subtitle', { renamedFrom: 'headline' })] }, titles],
        'collections.posts.fields.subtitle.renamedFrom',
        'cannot be headline, which another definition describes',
      ),
    },
    {
      name: 'a former name of a field that is not a text',
      ...refusedPlan(
        [authors, { ...posts, fields: [...posts.fields, text('subtitle', { renamedFrom: ['headline'] })] }, titles],
        'collections.posts.fields.subtitle.renamedFrom',
        'must be a string',
      ),
    },
    {
      name: 'a former name of a field of another type',
      ...refusedPlan(
        [
          authors,
          {
            ...posts,
            fields: [{ name: 'count', type: 'number', renamedFrom: 'headline' }, posts.fields[1]],
            indexes: [],
          },
          titles,
        ],
        'collections.posts.fields.count.type',
        'cannot change from text: drop the field and add it again',
      ),
    },
    {
      name: 'a definition that the API takes has no former name',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'essays', fields: [{ name: 'headline', type: 'text', renamedFrom: 'title' }] },
      expect: refused.invalid('fields.headline.renamedFrom'),
      spec: 'fields §1.1',
    },
  ]);
});
