import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Client } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, objectAt } from '../harness/json.ts';
import { Matcher } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const path = '/api/v1/openapi.json';

onEachTopology('the document is kept by its ETag', async (t, target) => {
  const { headers } = await target.guest.get(path);
  const etag = String(headers.etag);
  const rows: Scenario[] = [
    {
      name: 'whoever has the document is told so',
      spec: 'RFC 9110 §13.1.2',
      request: `GET ${path}`,
      headers: { 'If-None-Match': etag },
      expect: { status: 304, headers: { etag, 'cache-control': 'private, no-cache' } },
    },
    {
      name: 'HEAD has the headers of GET',
      spec: 'contract §8, Headers',
      request: `HEAD ${path}`,
      expect: { status: 200, headers: { etag, 'content-type': 'application/json; charset=utf-8' } },
    },
    {
      name: 'nothing can be written there',
      spec: 'contract §1',
      request: `POST ${path}`,
      body: {},
      expect: { status: 405, headers: { allow: 'GET, HEAD' } },
    },
    {
      name: 'the page may do nothing but read this site, and is kept like the document',
      spec: 'contract §8, Headers',
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
          'cache-control': 'private, no-cache',
        },
      },
    },
    {
      name: 'the bare address shows the page',
      spec: 'docs/api.md',
      request: 'GET /',
      expect: { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } },
    },
    ...['css', 'js'].map(
      (extension): Scenario => ({
        name: `the page brings its ${extension} itself`,
        spec: 'contract §8, Headers',
        request: `GET /docs/reference.${extension}`,
        expect: { status: 200, headers: { 'x-content-type-options': 'nosniff' } },
      }),
    ),
  ];
  await runScenarios(t, target, rows);
});

onEachTopology(
  'the page shows every operation of the document and loads nothing from elsewhere',
  async (_t, target) => {
    const [document, page] = await Promise.all([target.guest.get(path), target.guest.get('/docs')]);
    const ids = [...document.text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    assert.ok(ids.length > 50);
    assert.deepEqual(
      ids.filter((id) => !page.text.includes(`<details id="${id}">`)),
      [],
    );
    assert.deepEqual(
      [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)]
        .map(([, url]) => url)
        .filter((url) => !/^[#/]/.test(url ?? '')),
      [],
    );
    assert.doesNotMatch(page.text, /style="|<style|onclick|<script>/);
  },
);

/** What the document says of a collection: each operation as `METHOD path`. */
const operationsOn = (document: unknown, collection: string): string[] =>
  Object.entries(objectAt(document, 'paths')).flatMap(([place, item]) =>
    place.split('/')[3] === collection
      ? Object.keys(item as JsonObject).map((method) => `${method.toUpperCase()} ${place}`)
      : [],
  );

onEachTopology('the document lists the collections that the caller may see', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'title', type: 'text', required: true, options: { max: 20 } },
    { name: 'kind', type: 'select', options: { values: ['a', 'b'] } },
    { name: 'pin', type: 'password' },
    { name: 'seen', type: 'autodate' },
  ];
  const closed = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  await admin.post('/api/v1/collections', { name: 'described_open', type: 'base', fields, history_enabled: true });
  await admin.post('/api/v1/collections', { name: 'described_part', type: 'base', ...closed, list_rule: 'id != ""' });
  await admin.post('/api/v1/collections', { name: 'described_shut', type: 'base', ...closed });
  const documentFor = async (client: Client) => (await client.get(path)).json;
  await eventually(
    'the document knows the collections',
    async () => operationsOn(await documentFor(admin), 'described_shut').length > 0,
  );
  const forAdmin = await documentFor(admin);
  const forUser = await documentFor(await target.user());
  const forGuest = await documentFor(target.guest);

  await t.test('admins see all of every collection', () => {
    const one = '/api/v1/described_shut/{id}';
    const all = [
      'GET /api/v1/described_shut',
      'POST /api/v1/described_shut',
      `GET ${one}`,
      `PATCH ${one}`,
      `DELETE ${one}`,
    ];
    assert.deepEqual(operationsOn(forAdmin, 'described_shut'), all);
    assert.ok(operationsOn(forAdmin, 'described_open').includes('POST /api/v1/described_open/{id}/restore'));
  });

  await t.test('others see the operations that a rule does not close to them', () => {
    for (const document of [forUser, forGuest]) {
      assert.deepEqual(operationsOn(document, 'described_shut'), []);
      assert.deepEqual(operationsOn(document, 'described_part'), ['GET /api/v1/described_part']);
      const open = operationsOn(document, 'described_open');
      assert.ok(open.includes('GET /api/v1/described_open/{id}/history'));
      assert.ok(!open.includes('POST /api/v1/described_open/{id}/restore'));
    }
    assert.deepEqual(forUser, forGuest);
  });

  await t.test('records are described by their fields, without what is never shown', () => {
    const schemas = objectAt(forGuest, 'components.schemas');
    const record = schemas['described_open.record'] as JsonObject;
    assert.deepEqual(Object.keys(objectAt(record, 'properties')), [
      'id',
      'title',
      'kind',
      'seen',
      'created',
      'updated',
      'expand',
      '_score',
    ]);
    const create = schemas['described_open.create'] as JsonObject;
    assert.deepEqual(create.required, ['title']);
    assert.deepEqual(objectAt(create, 'properties'), {
      title: { type: 'string', maxLength: 20 },
      kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
      pin: { type: ['string', 'null'], writeOnly: true },
    });
  });

  await t.test('parameters of a query are of the kind that their text stands for', () => {
    const { get } = objectAt(forGuest, 'paths')['/api/v1/described_open'] as JsonObject;
    const schemas = Object.fromEntries(
      ((get as JsonObject).parameters as JsonObject[]).map(({ name, schema }) => [name, schema]),
    );
    const { page, perPage, skipTotal, nearMinScore, sort } = schemas;
    assert.deepEqual(
      { page, perPage, skipTotal, nearMinScore, sort },
      {
        page: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 1 },
        perPage: { type: 'integer', minimum: 1, maximum: 1000, default: 30 },
        skipTotal: { type: 'boolean', default: false },
        nearMinScore: { type: 'number' },
        sort: { type: 'string' },
      },
    );
  });

  await t.test('a collection that is gone is gone from the document', async () => {
    await admin.delete('/api/v1/collections/described_open');
    await eventually(
      'the document has forgotten the collection',
      async () => operationsOn(await documentFor(target.guest), 'described_open').length === 0,
    );
  });
});

onEachTopology('the document is valid OpenAPI 3.1, and a linter has nothing to say', async (t, target) => {
  const guest = await target.guest.get(path);
  const admin = await (await target.admin()).get(path);
  for (const [name, { status, text }] of Object.entries({ guest, admin })) {
    await t.test(`for a caller who is ${name}`, async () => {
      assert.equal(status, 200);
      assert.doesNotMatch(text, /whsec_[A-Za-z0-9+/]{8}/, 'it shows no secret that was made for it');
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
