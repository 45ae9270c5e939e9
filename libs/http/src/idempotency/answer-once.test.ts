import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { conflict } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { eventually } from '@recordbus/testing';
import { pino } from 'pino';
import { z } from 'zod';
import { createDispatcher } from '../dispatch.ts';
import { created, ok } from '../reply.ts';
import { route } from '../route.ts';
import { type ListeningServer, listen } from '../server.ts';
import { createMemoryStore } from './memory-store.testing.ts';

let done = 0;
let isFailing = false;
let hold = Promise.resolve();
const keys = createMemoryStore();

const make = {
  method: 'POST',
  access: 'public',
  scope: 'any',
  idempotent: true,
  summary: 'Make a thing',
  answers: { 201: 'a thing' },
} as const;

const routes = [
  route({
    ...make,
    path: '/sessions',
    sessionHeader: 'x-visit',
    body: z.record(z.string(), z.unknown()),
    handler: ({ body }) => {
      done += 1;
      return created({ ...body, done, token: 'secret' });
    },
  }),
  route({
    ...make,
    path: ['/things/:shelf', '/v1/things/:shelf'],
    body: z.record(z.string(), z.unknown()),
    handler: async ({ body }) => {
      await hold;
      if (isFailing) throw conflict('full', 'the shelf is full');
      done += 1;
      return { ...created({ ...body, done }), headers: { ETag: 'W/"1"' } };
    },
  }),
  route({
    ...make,
    path: '/bare',
    handler: () => {
      done += 1;
      return created({ done });
    },
  }),
  route({
    ...make,
    path: '/own',
    answersOnce: true,
    body: z.record(z.string(), z.unknown()),
    handler: async ({ key, keepAnswer }) => {
      assert.equal(keepAnswer, undefined);
      const isUnused = (await key?.findUnused()) !== undefined;
      return key ? key.answerOnce(() => created({ isUnused })) : created({ isUnused });
    },
  }),
  route({
    method: 'POST',
    path: '/other',
    access: 'public',
    scope: 'any',
    summary: 'Do',
    answers: {},
    handler: () => ok(null),
  }),
];

const dispatch = createDispatcher(routes, {
  log: pino({ level: 'silent' }),
  mapError: () => undefined,
  idempotency: keys,
});

const user = (id: string): Principal => ({
  type: 'user',
  id,
  email: 'u@x.org',
  collection: 'users',
  anonymous: false,
  impersonatedBy: null,
});
const guest: Principal = { type: 'guest', rejectedToken: false };

describe('a request with an idempotency key', () => {
  let server: ListeningServer;
  let principal: Principal = guest;
  let clientAddress = '192.0.2.1';
  let turn = 0;
  let key = '';

  before(async () => {
    server = await listen(
      (request, response) =>
        void dispatch(request, response, { requestId: 'r', traceparent: '', principal, clientAddress }),
      { port: 0, host: '127.0.0.1' },
    );
  });
  after(() => server.close());
  beforeEach(() => {
    turn += 1;
    key = `key ${turn}`;
    done = 0;
    isFailing = false;
    hold = Promise.resolve();
    principal = guest;
    clientAddress = '192.0.2.1';
  });

  async function post(path: string, body: string | FormData = '{"n":1}', headers: Record<string, string> = {}) {
    const type = typeof body === 'string' ? { 'Content-Type': 'application/json' } : undefined;
    const answer = await fetch(`${server.url}${path}`, {
      method: 'POST',
      body,
      headers: { ...type, 'X-Service-Idempotency-Key': key, ...headers },
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, json: JSON.parse(text) };
  }

  it('leaves the key to a handler that makes sure itself that the work is done once', async () => {
    const first = await post('/own');
    assert.deepEqual([first.status, first.json.data], [201, { isUnused: true }]);
    const again = await post('/own');
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.json], ['true', first.json]);
    assert.equal((await post('/own', '{"n":2}')).status, 422);
  });

  it("gets the first answer again on each of the resource's paths", async () => {
    const first = await post('/things/a');
    assert.equal(first.headers.get('idempotency-replayed'), null);
    for (const path of ['/things/a', '/v1/things/a']) {
      const again = await post(path);
      assert.deepEqual([again.status, again.json], [201, { data: { n: 1, done: 1 } }]);
      assert.deepEqual([again.headers.get('idempotency-replayed'), again.headers.get('etag')], ['true', 'W/"1"']);
    }
    assert.equal(done, 1);
  });

  it('is refused with 422 when its body or query differs', async () => {
    await post('/things/a');
    for (const answer of [await post('/things/a', '{"n":2}'), await post('/things/a?x=1')]) {
      assert.deepEqual([answer.status, answer.json.code], [422, 'idempotency_key_reused']);
    }
    assert.equal(done, 1);
  });

  it('is independent of requests with another path, caller, guest address or key', async () => {
    await post('/things/a');
    await post('/things/b');
    principal = user('u1');
    await post('/things/a');
    clientAddress = '192.0.2.9';
    await post('/things/a');
    principal = user('u2');
    await post('/things/a');
    principal = guest;
    await post('/things/a');
    key = 'another key';
    await post('/things/a');
    // A user's address makes no difference.
    assert.equal(done, 6);
  });

  it("is the session's on a route that knows sessions, and gets its token again", async () => {
    const post1 = () => post('/sessions', '{"n":1}', { 'X-Visit': 'one' });
    const first = await post1();
    clientAddress = '192.0.2.9';
    assert.deepEqual((await post1()).json, first.json);
    assert.deepEqual((await post('/sessions', '{"n":1}', { 'X-Visit': 'two' })).json.data.done, 2);
    clientAddress = '192.0.2.1';
    assert.equal((await post('/sessions')).json.data.done, 3);
    assert.equal((await post('/sessions')).status, 409);
    principal = user('u1');
    assert.equal((await post('/sessions', '{"n":1}', { 'X-Visit': 'one' })).json.data.done, 4);
  });

  it('is refused with 409 while the first is running', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const known = keys.identities.length;
    const first = post('/things/a');
    await eventually(() => keys.identities.length > known);
    const second = await post('/things/a');
    assert.deepEqual([second.status, second.json.code], [409, 'idempotency_key_in_use']);
    assert.equal(second.headers.get('retry-after'), '1');
    resolve();
    assert.equal((await first).status, 201);
  });

  it('runs again when the first was refused', async () => {
    isFailing = true;
    assert.equal((await post('/things/a')).status, 409);
    isFailing = false;
    const second = await post('/things/a');
    assert.deepEqual([second.status, second.headers.get('idempotency-replayed')], [201, null]);
  });

  it('claims no key when it is malformed', async () => {
    const known = keys.identities.length;
    assert.equal((await post('/things/a', 'x')).status, 400);
    assert.equal((await post('/things/a', '[]')).status, 400);
    for (const bad of ['', 'x'.repeat(256)])
      assert.equal((await post('/things/a', '{}', { 'X-Service-Idempotency-Key': bad })).status, 400);
    assert.equal(keys.identities.length, known);
    assert.equal((await post('/things/a', '{}', { 'X-Service-Idempotency-Key': 'x'.repeat(255) })).status, 201);
  });

  it('may have a body that the route does not read, even multipart, whose boundary is ignored', async () => {
    const form = (text: string) => {
      const data = new FormData();
      data.set('name', text);
      data.set('file', new Blob(['x'.repeat(300_000), text]), 'a.bin');
      return data;
    };
    await post('/bare', form('a'));
    const again = await post('/bare', form('a'));
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true']);
    assert.equal((await post('/bare', form('b'))).status, 422);
    assert.equal(done, 1);
  });

  it('may not have an endless body where none is read', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });
    const answer = await fetch(`${server.url}/bare`, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'X-Service-Idempotency-Key': key },
    });
    assert.equal(answer.status, 413);
    assert.equal(done, 0);
  });

  it('never repeats a token to a guest, and does not create another one [http §7.7]', async () => {
    const bodies = [
      '{"token":"t"}',
      '{"x-token":"t"}',
      '{"deep":{"mfa_token":"t"}}',
      `{"jwt":"eyJhbGci.eyJpZCI.c2ln"}`,
    ];
    for (const body of bodies) {
      key = `secret ${body}`;
      assert.equal((await post('/things/a', body)).status, 201);
      const again = await post('/things/a', body);
      assert.deepEqual([again.status, again.json.code], [409, 'idempotency_not_replayed']);
      assert.equal((await post('/things/a', '{"other":1}')).status, 422);
      principal = user('u1');
      await post('/things/a', body);
      assert.equal((await post('/things/a', body)).headers.get('idempotency-replayed'), 'true');
      principal = guest;
    }
    assert.equal(done, 2 * bodies.length);
  });

  it('has no effect on routes without keys', async () => {
    const known = keys.identities.length;
    assert.equal((await post('/other', '{}', { 'X-Service-Idempotency-Key': 'x'.repeat(300) })).status, 200);
    assert.equal(keys.identities.length, known);
  });
});

it('needs a service with a store, which does not start otherwise', () => {
  assert.throws(() => createDispatcher(routes, { log: pino({ level: 'silent' }), mapError: () => undefined }));
});
