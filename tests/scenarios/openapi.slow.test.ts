import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, objectAt } from '../harness/json.ts';
import { Matcher } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/openapi.json';

onEachTopology('clients may cache the document by its ETag', async (t, target) => {
  const { headers } = await target.guest.get(path);
  const etag = String(headers.etag);
  const rows: Scenario[] = [
    {
      name: 'a request with the current ETag',
      spec: 'RFC 9110 §13.1.2',
      request: `GET ${path}`,
      headers: { 'If-None-Match': etag },
      expect: {
        status: 304,
        headers: { etag, 'cache-control': 'private, no-cache', vary: 'Origin, Authorization, Accept-Encoding' },
      },
    },
    {
      name: 'HEAD with the headers of GET',
      spec: 'http §1.3',
      request: `HEAD ${path}`,
      expect: { status: 200, headers: { etag, 'content-type': 'application/json; charset=utf-8' } },
    },
    {
      name: 'another method',
      spec: 'http §1.3',
      request: `POST ${path}`,
      body: {},
      expect: { status: 405, headers: { allow: 'GET, HEAD' } },
    },
    {
      name: 'the page, with a strict policy, while it is not built',
      spec: 'http §12.4',
      request: 'HEAD /docs',
      expect: {
        status: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': new Matcher(
            'a policy without inline code',
            (policy) => /^default-src 'none'; /.test(String(policy)) && !/unsafe|https?:|\*/.test(String(policy)),
          ),
          'x-frame-options': 'DENY',
          'cache-control': 'no-store',
        },
      },
    },
    {
      name: 'the root path, which shows the page',
      spec: 'http §12.4',
      request: 'GET /',
      expect: { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } },
    },
  ];
  await runScenarios(t, target, rows);
});

/** Returns a collection's operations in the document, each as `METHOD path`. */
const operationsOn = (document: unknown, collection: string): string[] =>
  Object.entries(objectAt(document, 'paths')).flatMap(([place, item]) =>
    place.split('/')[place.startsWith('/api/v1/records/') ? 4 : 3] === collection
      ? Object.keys(item as JsonObject).map((method) => `${method.toUpperCase()} ${place}`)
      : [],
  );

onEachTopology('the document lists the collections that the caller may see', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'title', type: 'text', required: true, options: { max: 20, pattern: '^\\p{L}' } },
    { name: 'kind', type: 'select', options: { values: ['a', 'b'] } },
    { name: 'pin', type: 'password' },
    { name: 'seen', type: 'autodate' },
  ];
  const closed = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  const confidential = { name: 'stage', type: 'select', options: { values: ['confidential_stage'] } };
  await admin.post('/api/v1/collections', { name: 'described_part', type: 'base', ...closed, list_rule: 'id != ""' });
  await admin.post('/api/v1/collections', { name: 'described_shut', type: 'base', ...closed, fields: [confidential] });
  const relations = ['part', 'shut'].map((name) => ({ name, type: 'relation', collection: `described_${name}` }));
  await admin.post('/api/v1/collections', {
    name: 'described_open',
    type: 'base',
    fields: [...fields, ...relations],
    history_enabled: true,
  });
  const documentFor = async (client: Client) => (await client.get(path)).json;
  await eventually(
    'the document has the collections',
    async () => operationsOn(await documentFor(admin), 'described_shut').length > 0,
  );
  const forAdmin = await documentFor(admin);
  const forUser = await documentFor(await target.user());
  const forGuest = await documentFor(target.guest);

  await t.test('admins see every collection in full', () => {
    const one = '/api/v1/described_shut/{id}';
    const all = [
      'GET /api/v1/described_shut',
      'POST /api/v1/described_shut',
      `GET ${one}`,
      `PATCH ${one}`,
      `PUT ${one}`,
      `DELETE ${one}`,
      'GET /api/v1/records/described_shut/aggregate',
      'GET /api/v1/records/described_shut/export',
    ];
    assert.deepEqual(operationsOn(forAdmin, 'described_shut').sort(), all.sort());
    assert.ok(operationsOn(forAdmin, 'described_open').includes('POST /api/v1/described_open/{id}/restore'));
  });

  await t.test(
    'users see the operations whose rule may hold for them, guests those without a condition [http §12.2]',
    () => {
      assert.deepEqual(operationsOn(forUser, 'described_part'), [
        'GET /api/v1/described_part',
        'GET /api/v1/records/described_part/aggregate',
        'GET /api/v1/records/described_part/export',
      ]);
      assert.deepEqual(operationsOn(forGuest, 'described_part'), []);
      for (const document of [forUser, forGuest]) {
        assert.deepEqual(operationsOn(document, 'described_shut'), []);
        const open = operationsOn(document, 'described_open');
        assert.ok(open.includes('GET /api/v1/described_open/{id}/history'));
        assert.ok(!open.includes('POST /api/v1/described_open/{id}/restore'));
      }
    },
  );

  await t.test('no other part names a hidden collection or its fields [http §12.2]', async () => {
    const [guestSees, userSees] = [JSON.stringify(forGuest), JSON.stringify(forUser)];
    for (const text of [guestSees, userSees]) assert.doesNotMatch(text, /described_shut|confidential_stage/);
    assert.doesNotMatch(guestSees, /described_part/);
    assert.match(userSees, /id of a record in described_part/);
    // An error about a path across a relation does not name the collection.
    for (const query of ['filter=shut.x=1', 'sort=shut.x', 'expand=shut.x', 'filter=shut.id.x=1']) {
      const { status, text } = await target.guest.get(`/api/v1/described_open?${query}`);
      assert.equal(status, 400, query);
      assert.doesNotMatch(text, /described_shut/, query);
    }
    const written = await target.guest.send('POST', '/api/v1/described_open', {
      body: { title: 'x', shut: 5, part: 'nobody' },
    });
    assert.equal(written.status, 422);
    assert.doesNotMatch(written.text, /described_(shut|part)/);
  });

  await t.test("one caller's ETag does not match for another [http §12.4]", async () => {
    const callers = [target.guest, await target.user(), admin];
    const answers = await Promise.all(callers.map((client) => client.get(path)));
    const etags = answers.map(({ headers }) => String(headers.etag));
    assert.equal(new Set(etags).size, 3);
    for (const [index, client] of callers.entries()) {
      const known = etags.filter((etag) => etag !== etags[index]).join(', ');
      const again = await client.send('GET', path, { headers: { 'If-None-Match': known } });
      assert.deepEqual([again.status, again.text], [200, answers[index]?.text]);
      const head = await client.send('HEAD', path);
      assert.deepEqual(
        [head.headers.etag, head.headers['content-length']],
        [etags[index], answers[index]?.headers['content-length']],
      );
    }
  });

  await t.test("a record's schema has its fields, without hidden ones", () => {
    const schemas = objectAt(forGuest, 'components.schemas');
    const record = schemas['described_open.record'] as JsonObject;
    assert.deepEqual(Object.keys(objectAt(record, 'properties')), [
      'id',
      'title',
      'kind',
      'seen',
      'part',
      'shut',
      'created',
      'updated',
      'expand',
      '_score',
    ]);
    const create = schemas['described_open.create'] as JsonObject;
    assert.deepEqual(create.required, ['title']);
    assert.deepEqual(objectAt(create, 'properties'), {
      // Python and other languages cannot read such a pattern, and call the document invalid.
      title: { type: 'string', maxLength: 20, description: 'matches ^\\p{L}', examples: ['plain'] },
      kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
      pin: { type: ['string', 'null'], writeOnly: true },
      part: { type: ['string', 'null'], description: 'a record id' },
      shut: { type: ['string', 'null'], description: 'a record id' },
    });
  });

  await t.test('query parameters have the types that their texts stand for', () => {
    const { get } = objectAt(forGuest, 'paths')['/api/v1/described_open'] as JsonObject;
    const schemas = Object.fromEntries(
      ((get as JsonObject).parameters as JsonObject[]).map(({ name, schema }) => [name, schema]),
    );
    const { page, perPage, skipTotal, nearMinScore, sort } = schemas;
    assert.deepEqual(
      { page, perPage, skipTotal, nearMinScore, sort },
      {
        // Without bounds: numbers beyond them are taken (http §3.3).
        page: { type: 'integer', format: 'int64', default: 1 },
        perPage: { type: 'integer', format: 'int64', default: 30 },
        skipTotal: { type: 'boolean', default: false },
        nearMinScore: { type: 'number', format: 'double' },
        sort: { type: 'string' },
      },
    );
  });

  await t.test('a dropped collection leaves the document', async () => {
    await admin.delete('/api/v1/collections/described_open');
    await eventually(
      'the document no longer has the collection',
      async () => operationsOn(await documentFor(target.guest), 'described_open').length === 0,
    );
  });
});

onEachTopology('the setting openapi.audience decides who may read the document', async (t, target) => {
  const admin = await target.admin();
  const callers = { guest: target.guest, user: await target.user(), admin };
  const readers = { all: ['guest', 'user', 'admin'], users: ['user', 'admin'], admins: ['admin'] };
  for (const [audience, allowed] of Object.entries(readers).reverse()) {
    await t.test(`${audience} [http §12.3]`, async () => {
      await admin.patch('/api/v1/admin/settings', { 'openapi.audience': audience });
      for (const [caller, client] of Object.entries(callers)) {
        const status = allowed.includes(caller) ? 200 : 404;
        await eventually(`${caller}: ${status}`, async () => (await client.get(path)).status === status);
        for (const place of [path, '/docs', '/', `${path}/`])
          for (const method of ['GET', 'HEAD']) {
            const answer = await client.send(method, place, { headers: { 'If-None-Match': '"x"' } });
            assert.equal(answer.status, status, `${method} ${place} by ${caller}`);
            if (status === 404) assert.equal(answer.headers.etag, undefined);
          }
        const known = await client.send('GET', path, { headers: { 'If-None-Match': '*' } });
        assert.equal(known.status, status === 200 ? 304 : 404);
      }
    });
  }
});

onEachTopology('the document is valid OpenAPI 3.1 and 3.0, and passes a linter', async (t, target) => {
  const guest = await target.guest.get(path);
  const admin = await (await target.admin()).get(path);
  const older = await (await target.admin()).get(`${path}?version=3.0`);
  for (const [name, { status, text }] of Object.entries({ guest, admin, 'admin, in 3.0': older })) {
    await t.test(`for a caller who is ${name}`, async () => {
      assert.equal(status, 200);
      assert.doesNotMatch(text, /whsec_[A-Za-z0-9+/]{8}/, 'an example contains no generated secret');
      assert.deepEqual(await new Validator().validate(JSON.parse(text)), { valid: true });
      const problems = await lintFromString({
        source: text,
        config: await createConfig({ extends: ['recommended'] }),
      });
      assert.deepEqual(
        problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
        [],
      );
    });
  }
});
