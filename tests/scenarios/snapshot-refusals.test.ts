import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { apply, documentOf, relation } from './snapshot-documents.ts';

/** Checking them all would take a second, and more stack than the process has. */
const many = new Array(500_000).fill(0);

onEachTopology('an invalid snapshot is refused and changes nothing', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'extra', type: 'base' });
  await runScenarios(t, target, [
    ...(
      [
        ['half a million wrong collections', { snapshot: documentOf(many) }, 'snapshot.collections'],
        [
          'many wrong indexes',
          { snapshot: documentOf([{ name: 'first', indexes: many }]) },
          'snapshot.collections.0.indexes',
        ],
        ['an unknown mode', { snapshot: documentOf([]), mode: 'replace' }, 'mode'],
        ['a missing document', {}, 'snapshot'],
        ['a document that is a text', { snapshot: 'x' }, 'snapshot'],
        ['another version', { snapshot: { version: 2, collections: [] } }, 'snapshot.version'],
        ['missing collections', { snapshot: { version: 1 } }, 'snapshot.collections'],
        ['a collection without a name', { snapshot: documentOf([{ type: 'base' }]) }, 'snapshot.collections.0.name'],
        ['the same name twice', { snapshot: documentOf([{ name: 'dup' }, { name: 'Dup' }]) }, 'collections.Dup.name'],
        ['a name that differs in case', { snapshot: documentOf([{ name: 'Extra' }]) }, 'collections.Extra.name'],
        ['an invalid name', { snapshot: documentOf([{ name: 'first' }, { name: 'v1' }]) }, 'collections.v1.name'],
        [
          'a changed type',
          { snapshot: documentOf([{ name: 'extra', type: 'view', view_query: 'select 1 as id' }]), mode: 'sync' },
          'collections.extra.type',
        ],
        [
          'an invalid field',
          { snapshot: documentOf([{ name: 'first' }, { name: 'second', fields: [{ name: 'a', type: 'colour' }] }]) },
          'collections.second.fields.a.type',
        ],
        [
          'a relation to an unknown collection',
          { snapshot: documentOf([{ name: 'first' }, { name: 'second', fields: [relation('a', 'nothing')] }]) },
          'collections.second.fields.a.collection',
        ],
        [
          'an invalid rule',
          { snapshot: documentOf([{ name: 'first', list_rule: 'a =' }]) },
          'collections.first.list_rule',
        ],
        [
          'an invalid index',
          { snapshot: documentOf([{ name: 'first', indexes: [{ name: 'i', columns: ['x'] }] }]) },
          'collections.first.columns',
        ],
        [
          'an invalid view',
          { snapshot: documentOf([{ name: 'first' }, { name: 'second', type: 'view', view_query: 'select 1' }]) },
          'collections.second.view_query',
        ],
      ] as const
    ).map(
      ([what, body, place]): Scenario => ({
        name: what,
        as: 'admin',
        request: `POST ${apply}`,
        body,
        expect: refused.invalid(place),
        spec: 'collections §11.5',
      }),
    ),
    {
      name: 'a document larger than the usual limit of bodies',
      as: 'admin',
      request: `POST ${apply}`,
      body: { snapshot: { ...documentOf([{ name: 'extra', type: 'base' }]), generated_at: 'x'.repeat(3_000_000) } },
      expect: { status: 200, json: is.containing({ data: is.containing({ unchanged: ['extra'] }) }) },
      spec: 'collections §11.2',
    },
    {
      name: 'a collection of refused snapshots',
      as: 'admin',
      request: 'GET /api/v1/collections/first',
      expect: refused.notFound,
      spec: 'collections §11.5',
    },
    {
      name: 'a guest',
      request: 'GET /api/v1/admin/migrations/snapshot',
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    { name: 'a user', as: 'user', request: `POST ${apply}`, body: {}, expect: refused.forbidden, spec: 'http §6.3' },
  ]);
});
