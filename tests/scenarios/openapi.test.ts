import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

const path = '/api/v1/openapi.json';

onEachTopology('the document is valid OpenAPI 3.1, and a linter has nothing to say', async (t, target) => {
  const guest = await target.guest.get(path);
  const admin = await (await target.admin()).get(path);
  for (const [name, { status, text }] of Object.entries({ guest, admin })) {
    await t.test(`for a caller who is ${name}`, async () => {
      assert.equal(status, 200);
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
  ];
  await runScenarios(t, target, rows);
});
