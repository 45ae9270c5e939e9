import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AppError, forbidden } from '@recordbus/errors';
import type { Principal, RequestContext } from '@recordbus/request/context';
import { pino } from 'pino';
import { z } from 'zod';
import { createDispatcher } from './dispatch.ts';
import { created, ok } from './reply.ts';
import { route } from './route.ts';
import { type ListeningServer, listen } from './server.ts';

const item = z.strictObject({ name: z.string('must be a string'), size: z.number('must be a number').optional() });

const routes = [
  route({
    method: 'GET',
    path: '/items',
    access: 'public',
    scope: 'any',
    summary: 'List items',
    query: z.strictObject({ page: z.string().regex(/^\d+$/, 'must be a whole number').optional() }),
    answers: { 200: 'items' },
    handler: ({ query }) => ok({ page: query.page ?? null }),
  }),
  route({
    method: 'POST',
    path: '/items',
    access: 'admin',
    scope: 'any',
    summary: 'Create an item',
    body: item,
    bodyLimitBytes: 100,
    answers: { 201: item },
    handler: ({ body }) => created(body),
  }),
  route({
    method: 'POST',
    path: '/parameters',
    access: 'public',
    scope: 'any',
    summary: 'Take parameters in a body',
    body: item,
    refusesBodyWith: 400,
    answers: { 200: item, 400: 'an invalid member' },
    handler: ({ body }) => ok(body),
  }),
  route({
    method: 'GET',
    path: '/fails/:how',
    access: 'session',
    scope: 'any',
    summary: 'Fail',
    answers: {},
    admit: ({ params }) => {
      if ((params as Record<string, string>).how === 'closed') throw forbidden('closed');
    },
    handler: () => {
      throw new Error('the defect with its password');
    },
  }),
];

const log = pino({ level: 'silent' });
const known = new AppError(503, 'unavailable', 'the database does not answer');
const dispatch = createDispatcher(routes, {
  log,
  mapError: (thrown) => (thrown instanceof Error && thrown.message === 'known' ? known : undefined),
});

let principal: Principal = { type: 'guest', rejectedToken: false };
let server: ListeningServer;

before(async () => {
  server = await listen(
    (request, response) => {
      const context: RequestContext = { requestId: 'r', traceparent: '', principal, clientAddress: '127.0.0.1' };
      void dispatch(request, response, context);
    },
    { port: 0, host: '127.0.0.1' },
  );
});
after(() => server.close());

async function call(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text ? JSON.parse(text) : undefined };
}

const as = (type: 'guest' | 'user' | 'admin') => {
  const person = { id: '1', email: 'a@example.com' };
  if (type === 'guest') principal = { type, rejectedToken: false };
  else if (type === 'admin') principal = { type, ...person };
  else principal = { type, ...person, collection: 'users', anonymous: false, impersonatedBy: null };
};

describe('dispatching a request', () => {
  it("answers with the handler's result", async () => {
    assert.deepEqual((await call('GET', '/items?page=2')).json, { data: { page: '2' } });
    as('admin');
    const made = await call('POST', '/items', '{"name":"x"}');
    assert.equal(made.status, 201);
    assert.deepEqual(made.json, { data: { name: 'x' } });
  });

  it('answers HEAD with the headers of GET', async () => {
    const answer = await call('HEAD', '/items');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-length'), '22');
    assert.equal(answer.json, undefined);
  });

  it('refuses guests with 401 and other callers with 403', async () => {
    as('guest');
    const guest = await call('POST', '/items', '{"name":"x"}');
    assert.equal(guest.status, 401);
    assert.equal(guest.headers.get('www-authenticate'), 'Bearer');
    assert.equal((await call('GET', '/fails/x')).status, 401);
    as('user');
    assert.equal((await call('POST', '/items', '{"name":"x"}')).status, 403);
  });

  it("refuses a malformed query with 400 and the parameter's name", async () => {
    const answer = await call('GET', '/items?page=x');
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json.details, { page: 'must be a whole number' });
  });

  it('refuses an invalid body: 400 malformed, 413 too large, 415 not JSON, 422 with member names', async () => {
    as('admin');
    for (const body of ['{', '[]', '"x"', 'null', '1', '{"name":"\xff'])
      assert.equal((await call('POST', '/items', body)).status, 400, body);
    assert.equal((await call('POST', '/items', JSON.stringify({ name: 'x'.repeat(200) }))).status, 413);
    assert.equal((await call('POST', '/items', 'a=b', { 'Content-Type': 'text/plain' })).status, 415);
    const compressed = await call('POST', '/items', '{"name":"x"}', { 'Content-Encoding': 'gzip' });
    assert.equal(compressed.status, 415);
    assert.match(compressed.json.error, /Content-Encoding \(gzip\)/);
    assert.equal(compressed.headers.get('accept-encoding'), 'identity');
    assert.equal((await call('POST', '/items', '{"name":"x"}', { 'Content-Encoding': 'identity' })).status, 201);
    const refused = await call('POST', '/items', '{"name":1,"size":"x","more":true}');
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.json, {
      error: 'validation failed',
      code: 'validation_failed',
      details: { name: 'must be a string', size: 'must be a number', more: 'is not known here' },
    });
    const missing = await call('POST', '/items');
    assert.deepEqual([missing.status, missing.json.details], [422, { name: 'is required' }]);
    const polluting = await call('POST', '/items', '{"name":"x","__proto__":{"size":1}}');
    assert.equal(polluting.status, 422);
    assert.deepEqual(Object.keys(polluting.json.details), ['__proto__']);
  });

  it('refuses members with 400 where the route declares it', async () => {
    const answer = await call('POST', '/parameters', '{"name":1}');
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json, {
      error: 'name: must be a string',
      code: 'malformed_request',
      details: { name: 'must be a string' },
    });
  });

  it('calls admit before it reads query and body', async () => {
    as('user');
    assert.equal((await call('GET', '/fails/closed')).json.error, 'closed');
  });

  it('answers a defect with 500, without its message', async () => {
    as('user');
    const answer = await call('GET', '/fails/x');
    assert.equal(answer.status, 500);
    assert.deepEqual(answer.json, { error: 'something went wrong on the server', code: 'internal_error' });
  });

  it('answers 404 and 405 in the same shape', async () => {
    assert.equal((await call('GET', '/nowhere')).json.code, 'not_found');
    const wrong = await call('DELETE', '/items');
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD, POST');
  });
});
