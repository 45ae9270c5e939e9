import assert from 'node:assert/strict';
import { clientCalls } from '@recordbus/admin-pages/client-calls';
import { createClient, memoryStore } from '@recordbus/client';
import { objectAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { type Call, calls, without } from './route-calls.ts';

/** The API document's routes, with records under their long path. */
function routesOf(document: unknown): string[] {
  const paths = Object.entries(objectAt(document, 'paths')).filter(
    ([path]) => !/^\/api\/(x\/|v1\/records\/[^{])/.test(path),
  );
  return paths.flatMap(([path, item]) =>
    Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const shortPath = (path: string): string =>
  decodeURI(path).replace(/^\/api\/v1\/records\/(?!.*\/(?:aggregate|import|export|list)$)/, '/api/v1/');

onOneProcess('the client reaches every route in the API document', async (t, target) => {
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
    for (const [route, call] of Object.entries(calls)) assert.deepEqual(await sentBy(call), [route]);
  });
  await t.test("each call sends its options' query", async () => {
    for (const [route, call] of Object.entries(calls))
      assert.deepEqual(await sentBy((client) => call(client, { query: { key: 'a b' } }), keyIn), [`${route} a b`]);
  });
  await t.test("each call on the API document's page does too, and none is missing", async () => {
    assert.deepEqual(Object.keys(clientCalls).sort(), Object.keys(calls).sort());
    for (const [route, text] of Object.entries(clientCalls))
      assert.deepEqual(await sentBy((client) => run(client, text)), [route]);
  });
});

/** The parameter that a test adds to the query. */
const keyIn = ({ searchParams }: URL): string => ` ${searchParams.getAll('key')}`;

/** The requests that a client call sends, with what `more` reads from their URLs. */
async function sentBy(call: Call, more: (url: URL) => string = () => ''): Promise<string[]> {
  const sent: string[] = [];
  const client = createClient<never>('http://stack', {
    store: memoryStore({ token: 'a' }),
    fetch: async (input, init) => {
      const url = new URL(String(input));
      sent.push(`${init?.method} ${shortPath(url.pathname)}${more(url)}`);
      return Response.json({ data: { fields: '[]', map: [] }, token: 'b' });
    },
  });
  await Promise.resolve(call(client)).catch(() => {});
  return sent;
}

/** The variables in the page's calls. */
const values = {
  token: 't',
  password: 'correct horse',
  oldPassword: 'battery staple',
  code: '123456',
  redirectUri: 'http://app',
  state: 's',
  hash: 'h',
  file: '[]',
  backup: 'PK',
  subject: 's',
  owner: { collection: 'c', id: 'o' },
  key: 'k',
  id: '{id}',
  name: 'n',
  challengeId: 'c',
  credential: {},
  record: { id: '{id}', photo: '{filename}' },
};

/** Runs a client call from its source text. */
const run = (client: unknown, text: string): unknown =>
  new Function('client', ...Object.keys(values), `return ${text.replace('{body}', '{}')}`)(
    client,
    ...Object.values(values),
  );
