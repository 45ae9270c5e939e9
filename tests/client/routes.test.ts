import assert from 'node:assert/strict';
import { createClient, memoryStore } from '@recordbus/client';
import { objectAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/target.ts';
import { calls, without } from './route-calls.ts';

/** The routes of the API document, with records under their long path. */
function routesOf(document: unknown): string[] {
  const paths = Object.entries(objectAt(document, 'paths')).filter(
    ([path]) => !/^\/api\/(x\/|v1\/records\/[^{])/.test(path),
  );
  return paths.flatMap(([path, item]) =>
    Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const shortPath = (path: string): string =>
  decodeURI(path).replace(/^\/api\/v1\/records\/(?!.*\/(?:aggregate|import|export)$)/, '/api/v1/');

onOneProcess('the client reaches every route of the API document', async (t, target) => {
  const { json } = await (await target.admin()).get('/api/v1/openapi.json');
  const routes = routesOf(json);
  assert.ok(routes.length > 80);
  await t.test('each route has a call or a reason', () => {
    assert.deepEqual(
      routes.filter((route) => !(route in calls) && !(route in without)),
      [],
    );
    assert.deepEqual(
      [...Object.keys(calls), ...Object.keys(without)].filter((route) => !routes.includes(route)),
      [],
    );
  });
  await t.test('each call sends a request to its route', async () => {
    for (const [route, call] of Object.entries(calls)) {
      const sent: string[] = [];
      const client = createClient<never>('http://stack', {
        store: memoryStore({ token: 'a' }),
        fetch: async (input, init) => {
          sent.push(`${init?.method} ${shortPath(new URL(String(input)).pathname)}`);
          return Response.json({ data: { fields: '[]', map: [] }, token: 'b' });
        },
      });
      await Promise.resolve(call(client)).catch(() => {});
      assert.deepEqual(sent, [route]);
    }
  });
});
