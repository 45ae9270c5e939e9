import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { make, patch, path, text } from './collection-changes.ts';

onEachTopology('rules and relations follow renames, and what they refer to cannot be dropped', async (t, target) => {
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
      name: 'the name of another collection',
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
      name: 'a drop of a collection that a relation refers to',
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
      name: 'a drop of a collection without relations to it',
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
