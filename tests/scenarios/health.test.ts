import assert from 'node:assert/strict';
import { createClient } from '../harness/client.ts';
import { is } from '../harness/matching.ts';
import { runScenarios } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';

onEachTopology('a stack tells how it is', async (t, target) => {
  await runScenarios(t, target, [
    {
      name: 'the gateway is alive',
      request: 'GET /healthz',
      expect: { status: 200, json: { data: is.containing({ status: 'ok' }) } },
      spec: 'contract §1',
    },
    {
      name: 'what the gateway needs answers',
      request: 'GET /readyz',
      expect: { status: 200, json: { data: is.containing({ status: 'ready' }) } },
      spec: 'contract §1',
    },
    {
      name: 'health by service, with the version',
      request: 'GET /api/v1/health',
      expect: {
        status: 200,
        json: {
          data: {
            status: 'ok',
            version: is.matching(/^\d+\.\d+\.\d+/),
            services: is.containing({ auth: 'ok', records: 'ok', admin: 'ok', webhooks: 'ok' }),
          },
        },
      },
      spec: 'contract §1',
    },
    {
      name: 'a monitor may ask with HEAD',
      request: 'HEAD /healthz',
      expect: { status: 200, json: undefined },
      spec: 'contract §8',
    },
  ]);
  for (const [name, { url }] of Object.entries(target.services)) {
    await t.test(`200: ${name} is alive and ready [contract §1]`, async () => {
      for (const path of ['/healthz', '/readyz']) {
        const { status, text } = await createClient(url).get(path);
        assert.equal(status, 200, `${path}: ${text}`);
      }
    });
  }
});
