import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createBlog, pathsOf, postJson, unknownId } from './blog.ts';

onEachTopology('records are updated', async (t, target) => {
  const { author, post } = await createBlog(target);
  await target.guest.create('posts', { title: 'Other', slug: 'taken' });
  const path = `/api/v1/posts/${post.id}`;
  const first = { id: post.id, title: 'First', author: author.id };
  const updated = (json: object) => ({
    status: 200,
    json: { data: { ...postJson({ ...first, ...json }), updated: is.number } },
    headers: { etag: is.etag },
  });
  const refusal = (name: string, body: object, expect: Scenario['expect']): Scenario => ({
    name,
    request: `PATCH ${path}`,
    body,
    expect,
    spec: 'records §13.2',
  });
  await runScenarios(t, target, [
    ...pathsOf('posts').map(
      (collection, index): Scenario => ({
        name: `PATCH ${collection}/:id with some of the fields`,
        request: `PATCH ${collection}/${post.id}`,
        body: { stars: index + 1 },
        expect: updated({ stars: index + 1 }),
        events: ['posts.update'],
        spec: 'records §6.1',
      }),
    ),
    {
      name: 'null for a field',
      request: `PATCH ${path}`,
      body: { stars: null },
      expect: updated({}),
      events: ['posts.update'],
      spec: 'records §6.1',
    },
    {
      name: 'no change, which is a write too',
      request: `PATCH ${path}`,
      body: {},
      expect: updated({}),
      events: ['posts.update'],
      spec: 'records §8.1',
    },
    ...['a unique value', 'the unique value that the record has'].map(
      (name): Scenario => ({
        name,
        request: `PATCH ${path}`,
        body: { slug: 'own' },
        expect: updated({ slug: 'own' }),
        events: ['posts.update'],
        spec: 'fields §2.6',
      }),
    ),
    {
      name: 'null for a unique field',
      request: `PATCH ${path}`,
      body: { slug: null },
      expect: updated({}),
      events: ['posts.update'],
      spec: 'fields §2.6',
    },
    {
      name: 'a record as it was read',
      request: `PATCH ${path}`,
      body: post,
      expect: updated({}),
      events: ['posts.update'],
      spec: 'records §5.2',
    },
    refusal('an unknown field', { colour: 'red' }, refused.invalid('colour')),
    refusal('a wrong type', { stars: 'many' }, refused.invalid('stars')),
    refusal('null for a required field', { title: null }, refused.invalid('title')),
    refusal('a relation to a missing record', { author: unknownId }, refused.invalid('author')),
    refusal('a taken unique value', { slug: 'taken' }, refused.because({ slug: 'is already taken' })),
    {
      name: 'a record that does not exist',
      request: `PATCH /api/v1/posts/${unknownId}`,
      body: { title: 'Hello' },
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'an unknown record with an invalid value',
      request: `PATCH /api/v1/posts/${unknownId}`,
      body: { colour: 'red' },
      expect: refused.notFound,
      spec: 'records §13.2',
    },
    {
      name: 'an unknown collection',
      request: `PATCH /api/v1/nowhere/${post.id}`,
      body: {},
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'a body that is a list',
      request: `PATCH ${path}`,
      body: [],
      expect: refused.malformed,
      spec: 'http §2.1',
    },
  ]);
});

onEachTopology('If-Match names the version that a write changes', async (t, target) => {
  const { guest } = target;
  const { post } = await createBlog(target);
  const path = `/api/v1/posts/${post.id}`;
  const stale = `W/"${post.updated}"`;
  const { headers } = await guest.send('PATCH', path, { body: { stars: 1 } });
  const etag = String(headers.etag);
  const version = etag.slice(3, -1);
  const mismatch = (etagNow: unknown) => ({
    status: 412,
    json: { error: is.text, code: 'precondition_failed', details: { etag: etagNow } },
  });
  const matches = (
    name: string,
    ifMatch: string,
    expect: Scenario['expect'],
    events: readonly string[] = [],
  ): Scenario => ({
    name,
    request: `PATCH ${path}`,
    headers: { 'If-Match': ifMatch },
    body: {},
    expect,
    events,
    spec: 'records §9.1',
  });
  await runScenarios(t, target, [
    { ...matches('a stale version', stale, mismatch(etag)), expect: { ...mismatch(etag), headers: { etag } } },
    matches('a list without the current version', 'W/"1", W/"2"', mismatch(etag)),
    ...['"nonsense"', 'unquoted', `"${version}0"`, `"${version}.0"`].map((tag) =>
      matches(`the tag ${tag}`, tag, mismatch(etag)),
    ),
    {
      name: 'DELETE of a stale version',
      request: `DELETE ${path}`,
      headers: { 'If-Match': stale },
      expect: { ...mismatch(etag), headers: { etag } },
      spec: 'records §9.1',
    },
    {
      name: 'the record after all refusals',
      request: `GET ${path}`,
      expect: { status: 200, headers: { etag } },
      spec: 'records §9.1',
    },
    matches('the current version', etag, { status: 200, headers: { etag: is.etag } }, ['posts.update']),
    matches('any version', '*', { status: 200 }, ['posts.update']),
    {
      name: 'any version of a record that does not exist',
      request: `PATCH /api/v1/posts/${unknownId}`,
      headers: { 'If-Match': '*' },
      body: {},
      expect: refused.notFound,
      spec: 'records §13.2',
    },
    {
      name: 'DELETE of any version',
      request: `DELETE ${path}`,
      headers: { 'If-Match': '*' },
      expect: { status: 200, json: { data: null } },
      events: ['posts.delete'],
      spec: 'records §9.1',
    },
  ]);
});

onEachTopology('a delete follows the relations to the record', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  const relation = (name: string, cascade: string) => ({
    name,
    type: 'base',
    fields: [{ name: 'owner', type: 'relation', collection: 'owners', options: { cascade } }],
  });
  await admin.post('/api/v1/collections', { name: 'owners', type: 'base', fields: [] });
  for (const definition of [relation('loose', 'setNull'), relation('tied', 'cascade'), relation('guards', 'restrict')])
    await admin.post('/api/v1/collections', definition);
  await admin.post('/api/v1/collections', {
    name: 'leaves',
    type: 'base',
    fields: [{ name: 'branch', type: 'relation', collection: 'tied', options: { cascade: 'cascade' } }],
  });
  const owner = async () => (await guest.create('owners', {})).id;

  const alone = [await owner(), await owner(), await owner()];
  const loosened = await owner();
  const loose = await guest.create('loose', { owner: loosened });
  const felled = await owner();
  const tied = await guest.create('tied', { owner: felled });
  const leaf = await guest.create('leaves', { branch: tied.id });
  const guarded = await owner();
  const guard = await guest.create('guards', { owner: guarded });
  const blocked = {
    status: 409,
    json: {
      error: is.text,
      code: is.code,
      details: is.containing({ blockers: [{ collection: 'guards', id: guard.id, field: 'owner' }] }),
    },
  };
  const gone = (name: string, path: string): Scenario => ({
    name,
    request: `GET ${path}`,
    expect: refused.notFound,
    spec: 'records §7.1',
  });
  const deleted = { status: 200, json: { data: null } };
  await runScenarios(t, target, [
    ...pathsOf('owners').map(
      (path, index): Scenario => ({
        name: `DELETE ${path}/:id`,
        request: `DELETE ${path}/${alone[index]}`,
        expect: deleted,
        events: ['owners.delete'],
        spec: 'records §1.2',
      }),
    ),
    gone('the deleted record', `/api/v1/owners/${alone[0]}`),
    {
      name: 'a second delete',
      request: `DELETE /api/v1/owners/${alone[0]}`,
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'a delete that clears a reference in a write of its own',
      request: `DELETE /api/v1/owners/${loosened}`,
      expect: deleted,
      events: ['owners.delete', 'loose.update'],
      spec: 'records §7.3',
    },
    {
      name: 'the cleared reference',
      request: `GET /api/v1/loose/${loose.id}`,
      expect: { status: 200, json: { data: is.containing({ id: loose.id, owner: null }) } },
      spec: 'records §7.1',
    },
    {
      name: 'a delete that cascades over two relations',
      request: `DELETE /api/v1/owners/${felled}`,
      expect: deleted,
      events: ['owners.delete', 'tied.delete', 'leaves.delete'],
      spec: 'records §7.1',
    },
    gone('the child', `/api/v1/tied/${tied.id}`),
    gone('the grandchild', `/api/v1/leaves/${leaf.id}`),
    {
      name: 'a delete that restrict refuses, with the blockers',
      request: `DELETE /api/v1/owners/${guarded}`,
      expect: blocked,
      spec: 'records §7.5',
    },
    {
      name: 'a delete of the blocker',
      request: `DELETE /api/v1/guards/${guard.id}`,
      expect: deleted,
      events: ['guards.delete'],
      spec: 'records §7.1',
    },
    {
      name: 'a delete of the record without a blocker',
      request: `DELETE /api/v1/owners/${guarded}`,
      expect: deleted,
      events: ['owners.delete'],
      spec: 'records §7.1',
    },
  ]);
});
