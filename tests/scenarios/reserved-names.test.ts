import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const collections = '/api/v1/collections';
const spec = 'collections §1.3';

onEachTopology('a name that hides a route is refused', async (t, target) => {
  const admin = await target.admin();
  await admin.post(collections, { name: 'library', type: 'base', fields: [] });
  const names = [
    'jobs',
    'Jobs',
    'pb',
    'mcp',
    'uploads',
    'organisations',
    'scim',
    'search',
    'webhooks',
    'erase',
    'mail',
  ];
  await runScenarios(t, target, [
    ...names.map(
      (name): Scenario => ({
        name: `a collection called ${name}`,
        as: 'admin',
        request: `POST ${collections}`,
        body: { name, type: 'base', fields: [] },
        expect: refused.invalid('name'),
        spec,
      }),
    ),
    {
      name: 'a rename to jobs',
      as: 'admin',
      request: `PATCH ${collections}/library`,
      body: { name: 'jobs' },
      expect: refused.invalid('name'),
      spec,
    },
  ]);
});

/** Gives a collection a name that was free in an earlier version. */
async function makeFormer(target: Target, name: string): Promise<void> {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text' }];
  await admin.post(collections, { name: `former_${name}`, type: 'base', fields });
  await inDatabase(target, `alter table records."former_${name}" rename to "${name}"`, []);
  await inDatabase(target, `update system.collections set name = $1 where name = $2`, [name, `former_${name}`]);
  // Every replica reads the collections again after a change.
  await admin.post(collections, { name: `beside_${name}`, type: 'base', fields });
}

onEachTopology('a collection with a name that was reserved later keeps it', async (t, target) => {
  await makeFormer(target, 'jobs');
  const admin = await target.admin();
  const path = '/api/v1/records/jobs';
  const body = { title: 'one' };
  await eventually('its records are there', async () => (await target.guest.get(path)).status === 200);

  await runScenarios(t, target, [
    {
      name: 'its records are created',
      request: `POST ${path}`,
      body,
      expect: { status: 201, json: is.containing({ data: is.containing(body) }) },
      events: ['jobs.create'],
      spec,
    },
    { name: 'the route has its short path', request: 'GET /api/v1/jobs', expect: refused.unauthenticated, spec },
    { name: 'the shortest path is nothing', request: 'GET /api/jobs', expect: refused.notFound, spec },
    {
      name: 'its definition changes',
      as: 'admin',
      request: `PATCH ${collections}/jobs`,
      body: {
        fields: [
          { name: 'title', type: 'text' },
          { name: 'more', type: 'text' },
        ],
      },
      expect: { status: 200, json: is.containing({ data: is.containing({ name: 'jobs' }) }) },
      spec,
    },
  ]);

  await t.test(`records are read, changed and deleted [${spec}]`, async () => {
    const { json } = await target.guest.send('POST', path, { body });
    const at = `${path}/${textAt(json, 'data.id')}`;
    assert.equal((await target.guest.get(at)).status, 200);
    assert.equal((await target.guest.send('PATCH', at, { body: { title: 'two' } })).status, 200);
    assert.equal((await target.guest.send('DELETE', at)).status, 200);
  });

  await t.test(`the document has only the path that works [${spec}]`, async () => {
    const { json } = await target.guest.get('/api/v1/openapi.json');
    const { paths } = json as { paths: Record<string, { get?: { operationId: string; description?: string } }> };
    assert.equal(paths[path]?.get?.operationId, 'list_jobs');
    assert.equal(paths[path]?.get?.description, undefined);
    assert.equal(paths['/api/v1/jobs']?.get?.operationId, 'getJobs');
  });

  await t.test(`schema files and snapshots apply [${spec}]`, async () => {
    const { json: files } = await admin.get('/api/v1/admin/schema');
    const { data: schema } = files as { data: object };
    const plan = await admin.send('POST', '/api/v1/admin/schema/plan', { body: { schema } });
    assert.equal(plan.status, 200, plan.text);
    const { json: snapshot } = await admin.get('/api/v1/admin/migrations/snapshot');
    const applied = await admin.send('POST', '/api/v1/admin/migrations/apply', {
      body: { snapshot: (snapshot as { data: object }).data, mode: 'sync' },
    });
    assert.equal(applied.status, 200, applied.text);
  });

  await t.test(`it can be renamed [${spec}]`, async () => {
    const renamed = await admin.send('PATCH', `${collections}/jobs`, { body: { name: 'tasks' } });
    assert.equal(renamed.status, 200, renamed.text);
    await eventually('it is at its new paths', async () => (await target.guest.get('/api/v1/tasks')).status === 200);
  });
});
