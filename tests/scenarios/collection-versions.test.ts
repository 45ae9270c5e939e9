import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { make, path, text } from './collection-changes.ts';

const tag = is.matching(/^W\/"[\w-]{27}"$/);
const spec = 'collections §9.4';

onEachTopology('a collection changes only in the version that If-Match names', async (t, target) => {
  const admin = await target.admin();
  await make(admin, 'versioned', [text('title')]);
  const tagOf = async (): Promise<string> => String((await admin.get(`${path}/versioned`)).headers.etag);
  const first = await tagOf();
  const request = `PATCH ${path}/versioned`;
  const moved = (current: unknown) => ({
    status: 412,
    json: is.containing({ code: 'precondition_failed', details: { etag: current } }),
    headers: { etag: current as string },
  });
  const changed = { status: 200, json: is.containing({ data: is.containing({ etag: tag }) }), headers: { etag: tag } };
  await runScenarios(t, target, [
    {
      name: 'the list has the tags',
      as: 'admin',
      request: `GET ${path}`,
      spec,
      expect: { status: 200, json: { data: is.listWith(is.containing({ name: 'versioned', etag: first })) } },
    },
    {
      name: 'the current version',
      as: 'admin',
      request,
      body: { list_rule: '' },
      headers: { 'If-Match': first },
      spec,
      expect: changed,
    },
    {
      name: 'the version before',
      as: 'admin',
      request,
      body: { list_rule: null },
      headers: { 'If-Match': first },
      spec,
      expect: moved(tag),
    },
    {
      name: 'the version before, for a change of nothing',
      as: 'admin',
      request,
      body: {},
      headers: { 'If-Match': first },
      spec,
      expect: moved(tag),
    },
    {
      name: 'the version before, for a drop',
      as: 'admin',
      request: `DELETE ${path}/versioned`,
      headers: { 'If-Match': first },
      spec,
      expect: moved(tag),
    },
    {
      name: 'a text that is not a tag',
      as: 'admin',
      request,
      body: { list_rule: null },
      headers: { 'If-Match': first.replaceAll('"', '') },
      spec,
      expect: moved(tag),
    },
    {
      name: 'any version',
      as: 'admin',
      request,
      body: { list_rule: null },
      headers: { 'If-Match': '*' },
      spec,
      expect: { status: 200 },
    },
    {
      name: 'a collection that is not there',
      as: 'admin',
      request: `PATCH ${path}/nowhere`,
      body: {},
      headers: { 'If-Match': '*' },
      spec,
      expect: refused.notFound,
    },
  ]);

  await t.test(`the same definition has the same tag, in a tag list and in its strong form [${spec}]`, async () => {
    const current = await tagOf();
    const { json } = await admin.send('PATCH', `${path}/versioned`, {
      body: { list_rule: null },
      headers: { 'If-Match': `"none", ${current.slice(2)}` },
    });
    assert.deepEqual(JSON.parse(JSON.stringify(json)).data.etag, current);
  });

  await t.test(`renaming a collection that it names changes its version [${spec}]`, async () => {
    await make(admin, 'named', [text('a')]);
    await make(admin, 'naming', [{ name: 'to', type: 'relation', collection: 'named' }]);
    const { headers } = await admin.get(`${path}/naming`);
    await admin.patch(`${path}/named`, { name: 'renamed' });
    const late = await admin.send('PATCH', `${path}/naming`, {
      body: {},
      headers: { 'If-Match': String(headers.etag) },
    });
    assert.equal(late.status, 412);
  });

  await t.test(`when twenty changes have the same version, one succeeds [${spec}]`, async () => {
    const headers = { 'If-Match': await tagOf() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        admin.send('PATCH', `${path}/versioned`, { headers, body: { list_rule: `title = "${n}"` } }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 412)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    const { json } = await admin.get(`${path}/versioned`);
    assert.equal(JSON.parse(JSON.stringify(json)).data.list_rule, `title = "${winner}"`);
  });

  await t.test(`a drop with the current version succeeds [${spec}]`, async () => {
    const { status } = await admin.send('DELETE', `${path}/versioned`, { headers: { 'If-Match': await tagOf() } });
    assert.equal(status, 200);
    assert.equal((await admin.get(`${path}/versioned`)).status, 404);
  });
});
