import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { is } from '../harness/matching.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology("health checks report the stack's state", async (t, target) => {
  await runScenarios(t, target, [
    {
      name: 'the liveness of the gateway',
      request: 'GET /healthz',
      expect: { status: 200, json: { data: is.containing({ status: 'ok' }) } },
      spec: 'http §11.1',
    },
    {
      name: 'the readiness of the gateway',
      request: 'GET /readyz',
      expect: { status: 200, json: { data: is.containing({ status: 'ready' }) } },
      spec: 'http §11.2',
    },
    {
      name: 'the readiness for a guest, one word for each service and for the background tasks',
      request: 'GET /readyz',
      expect: {
        status: 200,
        json: {
          data: is.containing({
            checks: {
              auth: 'ok',
              records: 'ok',
              admin: 'ok',
              webhooks: 'ok',
              realtime: 'ok',
              // Other tests may make a task fail once.
              background: is.oneOf('ok', 'degraded'),
            },
          }),
        },
      },
      spec: 'http §11.2',
    },
    {
      name: 'the health by service, with the version',
      request: 'GET /api/v1/health',
      expect: {
        status: 200,
        json: {
          data: {
            status: 'ok',
            version: is.matching(/^\d+\.\d+\.\d+/),
            services: is.containing({ auth: 'ok', records: 'ok', admin: 'ok', webhooks: 'ok', realtime: 'ok' }),
          },
        },
      },
      spec: 'http §11.3',
    },
    {
      name: 'HEAD, as monitors send it',
      request: 'HEAD /healthz',
      expect: { status: 200, json: undefined },
      spec: 'http §1.3',
    },
  ]);
  for (const [name, { url }] of Object.entries(target.services)) {
    await t.test(`200: ${name} is alive and ready [http §11.1, §11.2]`, async () => {
      for (const path of ['/healthz', '/readyz']) {
        const { status, text } = await createClient(url).get(path);
        assert.equal(status, 200, `${path}: ${text}`);
      }
    });
  }
});
