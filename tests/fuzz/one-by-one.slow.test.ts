import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { openSocket } from '../harness/clients/live-socket.ts';
import { type JsonObject, textAt } from '../harness/json.ts';
import { loggedErrors } from '../harness/processes/logs.ts';
import { firstAdmin, startStack } from '../harness/stacks/stack.ts';
import { wordsOfLibrary } from './check-answer.ts';
import { find, type Operation, operationsOf } from './operations.ts';
import { excluded, makeContents } from './subject.ts';

/** Values of every type. Each is wrong for most members. */
const values: readonly unknown[] = [null, true, 7, 'x', '', [], [[]], {}, { a: 1 }, -1e9, 'x'.repeat(300)];

/** Texts that parameters take, by name, and one that most refuse. */
const usual: Readonly<Record<string, string>> = {
  tz: 'Europe/Berlin',
  group: 'kind',
  count: '1',
  sum: 'n',
  avg: 'n',
  min: 'n',
  max: 'n',
  filter: 'n > 1',
  having: 'count > 0',
  sort: 'id',
  fields: 'id,title',
  expand: 'parent',
  cursor: '',
  nearVector: '[1,0,0]',
  nearVectorField: 'embedding',
  on: 'slug',
  format: 'csv',
  thumb: '100x100',
  version: '3.0',
};
const oddTextOf = (): string => "x'(";

/** Operations whose answers stay open, or end what the others use. */
const notCalled = new Set([...excluded, 'getRealtime', 'postRealtime', 'postAdminBackups', 'postAdminLogout']);

async function prepare(stack: Awaited<ReturnType<typeof startStack>>) {
  await stack.admin();
  const signedIn = await stack.guest.post('/api/v1/admin/login', firstAdmin, 200);
  const client = createClient(stack.url, textAt(signedIn, 'token'));
  const known = await makeContents(stack);
  const { json: document } = await client.get('/api/v1/openapi.json');
  const operations = operationsOf(document).filter(({ id }) => !notCalled.has(id));
  const placeOf = ({ path }: Operation): string =>
    path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(known[name]?.[0] ?? 'x'));
  return { client, document, operations, placeOf, token: textAt(signedIn, 'token') };
}

test("no request with an odd value makes a 500, or shows the schema library's words", {
  timeout: 1_200_000,
}, async (t) => {
  await using stack = await startStack({ topology: 'one' });
  const { client, document, operations, placeOf, token } = await prepare(stack);
  let sent = 0;

  await t.test('each member in each body with values of every type [http §4.3]', async () => {
    const problems: string[] = [];
    for (const operation of operations) {
      if (!operation.body || operation.method === 'DELETE') continue;
      for (const body of bodiesOf(document, operation.body)) {
        const answer = await client.send(operation.method, placeOf(operation), { body });
        sent += 1;
        if (answer.status >= 500 || (answer.status >= 400 && wordsOfLibrary.test(answer.text)))
          problems.push(`${operation.id} ${JSON.stringify(body).slice(0, 200)}: ${answer.text.slice(0, 300)}`);
      }
    }
    assert.deepEqual(problems, []);
  });

  await t.test('each parameter in each query, alone and in pairs [http §2.5]', async () => {
    const problems: string[] = [];
    for (const operation of operations) {
      for (const query of queriesOf(operation)) {
        const place = `${placeOf(operation)}?${new URLSearchParams(query)}`;
        const body = operation.body && {};
        const answer = await client.send(operation.method, place, { body });
        sent += 1;
        if (answer.status >= 500 || (answer.status >= 400 && wordsOfLibrary.test(answer.text)))
          problems.push(`${operation.method} ${place}: ${answer.text.slice(0, 300)}`);
      }
    }
    assert.deepEqual(problems, []);
  });

  await t.test('each member in live frames and in subscriptions [realtime §1.3]', async () => {
    const messages = [
      ...['type', 'id', 'token', 'collection', 'colour'].flatMap((name) =>
        ['subscribe', 'unsubscribe', 'auth', 'ping', 'none'].flatMap((type) =>
          values.map((value) => ({ type, [name]: value })),
        ),
      ),
      ...['id', 'collection', 'record', 'filter', 'expand', 'fields', 'snapshot', 'after', 'channel', 'state'].flatMap(
        (name) => values.map((value) => ({ type: 'subscribe', collection: 'others', [name]: value })),
      ),
      ...['page', 'perPage', 'sort'].flatMap((name) =>
        values.map((value) => ({ type: 'subscribe', collection: 'others', snapshot: { [name]: value } })),
      ),
      ...values,
    ];
    await using socket = await openSocket(stack.url, { token });
    // More than 200 messages that wait would close the connection (realtime §1.4).
    for (const [index, message] of messages.entries()) {
      socket.send(message);
      if (index % 100 !== 99 && index !== messages.length - 1) continue;
      socket.send({ type: 'auth', token });
      await socket.arrived('authenticated', Math.ceil((index + 1) / 100));
    }
    assert.equal(socket.closed, undefined);
    for (const { type, data } of socket.messages)
      if (type === 'error') assert.doesNotMatch(JSON.stringify(data), wordsOfLibrary);
    assert.ok(socket.messages.some(({ type }) => type === 'error'));
    for (const value of values) {
      const answer = await client.send('POST', '/api/v1/realtime', { body: { subscriptions: value } });
      if (answer.status >= 400) assert.doesNotMatch(answer.text, wordsOfLibrary);
    }
  });

  t.diagnostic(`${sent} requests`);
  assert.deepEqual(loggedErrors(stack.process.lines), []);
});

/** Bodies in which one member, at the top or one level below, has a value of another type. */
function* bodiesOf(document: unknown, schema: JsonObject): Generator<JsonObject> {
  const required = Object.fromEntries(((schema.required ?? []) as string[]).map((name) => [name, 'x']));
  for (const [name, inner] of Object.entries((schema.properties ?? {}) as JsonObject)) {
    for (const value of values) yield { ...required, [name]: value };
    const below = resolve(document, inner as JsonObject);
    for (const member of Object.keys((below.properties ?? {}) as JsonObject))
      for (const value of values) yield { ...required, [name]: { [member]: value } };
    const item = resolve(document, (below.items ?? {}) as JsonObject);
    for (const member of Object.keys((item.properties ?? {}) as JsonObject))
      for (const value of values) yield { ...required, [name]: [{ [member]: value }] };
  }
  yield { ...required, colour: 1 };
}

const resolve = (document: unknown, schema: JsonObject): JsonObject =>
  typeof schema.$ref === 'string' ? (find(document, schema.$ref.slice(2).split('/')) as JsonObject) : schema;

/** Pairs of parameters get odd texts too, except in CI: there each parameter gets one alone. */
const pairsOddTexts = process.env.TEST_TOPOLOGIES !== 'fewest';

/** Queries with each parameter alone, once with a usual text and once with an odd one, and with each pair. */
function* queriesOf({ parameters }: Operation): Generator<Record<string, string>> {
  const query = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name);
  for (const textOf of [(name: string) => usual[name] ?? '1', oddTextOf])
    for (const [index, one] of query.entries()) {
      yield { [one]: textOf(one) };
      if (textOf === oddTextOf && !pairsOddTexts) continue;
      for (const other of query.slice(index + 1)) yield { [one]: textOf(one), [other]: usual[other] ?? '1' };
    }
}
