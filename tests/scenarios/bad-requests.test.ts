import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createBlog, unknownId } from './blog.ts';

const json = { 'Content-Type': 'application/json' };

/** The JSON limit when nothing else is configured (http §2.4). */
const limitBytes = 1024 * 1024;

/** First path segments that no collection can have (collections §1.3). */
const reserved = 'admin auth batch collections files health metrics realtime records settings v1 x'.split(' ');

/** Requests with the shape of a record's path, whose first segment is not a collection's name. */
const besideCollections: readonly string[] = [
  ...['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map((method) => `${method} /api/v1/admin/nowhere`),
  ...reserved.map((name) => `POST /api/${name}/nowhere`),
  ...reserved.filter((name) => !/^(collections|records)$/.test(name)).map((name) => `PATCH /api/v1/${name}/nowhere`),
  ...reserved.map((name) => `DELETE /api/v1/records/${name}`),
  ...['POST /api/v1/admin/nowhere/history', 'PUT /api/v1/x/nowhere/history', 'DELETE /api/v1/admin/a/restore'],
  ...['POST /api/v1/Admin/nowhere', 'POST /api/v1/%61dmin/nowhere', 'POST /api/v1/openapi.json/nowhere'],
  ...['POST /api/v1/1a/nowhere', 'PATCH /api/v1/a-b', 'PATCH /api/v1/a%2fb', 'PUT /api/v1/%00', 'PUT /api/v1/%20'],
];

/** A post with exactly `bytes` bytes. */
const postOf = (bytes: number) => `{"title": "Hello", "meta": "${'x'.repeat(bytes - 30)}"}`.padEnd(bytes);

onEachTopology('a malformed request is refused', async (t, target) => {
  const { post } = await createBlog(target);
  const posts = 'POST /api/v1/posts';
  const malformed = (name: string, request: string, rawBody: string, more: object = {}): Scenario => ({
    name,
    as: 'admin',
    request,
    rawBody,
    headers: json,
    expect: refused.malformed,
    spec: 'http §2',
    ...more,
  });
  const writing = [posts, `PATCH /api/v1/posts/${post.id}`, 'POST /api/v1/collections', 'POST /api/v1/admin/login'];
  await runScenarios(t, target, [
    ...writing.flatMap((request): Scenario[] => [
      malformed(`${request.replace(post.id, ':id')}: incomplete JSON`, request, '{"title": "Hel'),
      malformed(`${request.replace(post.id, ':id')}: a list`, request, '[{"title": "Hello"}]'),
      malformed(`${request.replace(post.id, ':id')}: a string`, request, '"Hello"'),
      malformed(`${request.replace(post.id, ':id')}: null`, request, 'null'),
      malformed(`${request.replace(post.id, ':id')}: another content type`, request, '{}', {
        headers: { 'Content-Type': 'text/plain' },
        expect: refused.unsupported,
      }),
      malformed(`${request.replace(post.id, ':id')}: a body over the limit`, request, postOf(limitBytes + 1), {
        expect: refused.tooLarge,
      }),
    ]),
    ...[json, { 'Content-Type': 'multipart/form-data; boundary=y' }].map((type) =>
      malformed(`a compressed body of ${type['Content-Type']}`, posts, '{"title": "Hello"}', {
        headers: { ...type, 'Content-Encoding': 'gzip' },
        expect: {
          status: 415,
          json: { error: is.matching(/Content-Encoding/), code: 'unsupported_media_type' },
          headers: { 'accept-encoding': 'identity' },
        },
      }),
    ),
    malformed('a body with the encoding identity', posts, '{"title": "Hello"}', {
      headers: { ...json, 'Content-Encoding': 'identity' },
      expect: { status: 201 },
      events: ['posts.create'],
    }),
    malformed('a form', posts, 'title=Hello', {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      expect: refused.unsupported,
    }),
    // Text columns cannot store NUL, whichever part of a request it comes from.
    malformed('NUL in an address', 'POST /api/v1/admin/login', '{"email": "a\\u0000@example.com", "password": "x"}'),
    malformed(
      'NUL in a name',
      'POST /api/v1/admin/webhooks',
      '{"name": "a\\u0000", "url": "https://example.com", "events": ["*"]}',
    ),
    malformed('NUL in an id', 'PATCH /api/v1/admin/webhooks/%00', '{}'),
    malformed('a missing content type', posts, '{"title": "Hello"}', { headers: {}, expect: refused.unsupported }),
    malformed('a body of exactly the limit', posts, postOf(limitBytes), {
      expect: { status: 201 },
      events: ['posts.create'],
    }),
    malformed('a body in another charset', posts, '{"title": "Hello"}', {
      headers: { 'Content-Type': 'application/json; charset=utf-16' },
      expect: refused.unsupported,
      spec: 'RFC 8259 §8.1',
    }),
    malformed('a content type with a charset', posts, '{"title": "Hello"}', {
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
      expect: { status: 201 },
      events: ['posts.create'],
    }),
  ]);

  await t.test('a body that is not UTF-8 is refused [http §2.1]', async () => {
    const rawBody = Buffer.concat([Buffer.from('{"title": "A'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const { status, text } = await target.guest.send('POST', '/api/v1/posts', { rawBody, headers: json });
    assert.equal(status, 400, text);
  });

  for (const [path, details] of [
    ['/api/v1/posts?filter=%ff', { filter: 'is not valid UTF-8' }],
    ['/api/v1/posts?filter=title%20=%20"%C3"', { filter: 'is not valid UTF-8' }],
    ['/api/v1/posts?page=1&sort=%ED%A0%80', { sort: 'is not valid UTF-8' }],
    ['/api/v1/posts?anything=%ff', { anything: 'is not valid UTF-8' }],
    ['/api/v1/posts?%ff=1', { '\ufffd': 'is not valid UTF-8' }],
    ['/api/v1/admin/settings?x=%ff', { x: 'is not valid UTF-8' }],
    ['/api/v1/posts/%ff', undefined],
    ['/api/files/posts/%ff/a', undefined],
  ] as const)
    await t.test(`GET ${path}: bytes that are not UTF-8 are refused [http §1.4, §2.5]`, async () => {
      const { status, text, json: answer } = await (await target.admin()).send('GET', path);
      assert.equal(status, 400, text);
      assert.deepEqual(at(answer, 'details'), details);
    });

  await t.test('the replacement character is a text like others [http §2.5]', async () => {
    const { status, text } = await target.guest.send('GET', '/api/v1/posts?filter=title%20=%20"%EF%BF%BD"');
    assert.equal(status, 200, text);
  });
});

onEachTopology('an unknown path is refused', async (t, target) => {
  const { post } = await createBlog(target);
  const nowhere = (request: string): Scenario => ({
    name: request,
    request,
    expect: refused.notFound,
    spec: 'http §1.2, §1.4',
  });
  const notAllowed = (request: string, ...methods: readonly string[]): Scenario => ({
    name: request.replace(post.id, ':id'),
    request,
    expect: {
      status: 405,
      json: { error: is.text, code: 'method_not_allowed' },
      headers: { allow: is.matching(new RegExp(`^(?=.*\\b${methods.join('\\b)(?=.*\\b')}\\b)`)) },
    },
    spec: 'http §1.3',
  });
  await runScenarios(t, target, [
    nowhere('GET /nowhere'),
    nowhere('GET /api'),
    nowhere('GET /api/v1/admin/nowhere'),
    nowhere('GET /api/v1/auth/nowhere'),
    nowhere(`GET /api/v1/posts/${post.id}/nowhere`),
    nowhere('GET /api/v1/posts/../../../etc/passwd'),
    nowhere('GET /api/v2/posts/a/b'),
    nowhere('GET /internal/manifest'),
    ...['GET', 'POST', 'PUT', 'DELETE'].map((method) => nowhere(`${method} /api/v1/posts//`)),
    nowhere('DELETE /api/v1/admin/webhooks//'),
    nowhere('GET //api/v1/posts'),
    nowhere('POST /api/v1//posts'),
    ...besideCollections.map(nowhere),
    notAllowed('PATCH /api/v1/posts', 'GET', 'POST', 'PUT'),
    notAllowed('DELETE /api/v1/posts', 'GET', 'POST', 'PUT'),
    notAllowed(`POST /api/v1/posts/${post.id}`, 'GET', 'PATCH', 'PUT', 'DELETE'),
    notAllowed(`POST /api/v1/records/posts/${post.id}`, 'GET', 'PATCH', 'PUT', 'DELETE'),
    notAllowed('PUT /api/v1/collections', 'GET', 'POST'),
    notAllowed('GET /api/v1/admin/login', 'POST'),
    notAllowed('DELETE /api/v1/auth/people/login', 'POST'),
    notAllowed('PUT /api/v1/files/token', 'POST'),
    notAllowed('PATCH /api/v1/health', 'GET', 'HEAD'),
    notAllowed('PUT /api/v1/collections/nowhere', 'GET', 'PATCH', 'DELETE'),
    {
      name: 'PUT on an unknown collection',
      request: 'PUT /api/v1/nowhere',
      expect: refused.notFound,
      spec: 'http §1.3',
    },
  ]);
});

onEachTopology('every answer has a request id and security headers', async (t, target) => {
  const { post } = await createBlog(target);
  const path = `/api/v1/posts/${post.id}`;
  const answers = (name: string, request: string, status: number): Scenario => ({
    name,
    request,
    expect: {
      status,
      headers: {
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'x-powered-by': null,
      },
    },
    spec: 'http §3.6',
  });
  const requestId = (name: string, sent: string, expected: unknown): Scenario => ({
    name,
    request: `GET ${path}`,
    headers: { 'X-Request-Id': sent },
    expect: { status: 200, headers: { 'x-request-id': expected as string } },
    spec: 'http §5.1',
  });
  const made = (sent: string) => is.matching(new RegExp(`^(?!${sent.slice(0, 20)})[\\x21-\\x7e]{8,128}$`));
  await runScenarios(t, target, [
    answers('a record', `GET ${path}`, 200),
    answers('a refusal', 'GET /api/v1/nowhere', 404),
    answers('a list', 'GET /api/v1/posts', 200),
    requestId('a valid request id is kept', 'order-4711/b', 'order-4711/b'),
    requestId('a request id of 128 characters is kept', 'i'.repeat(128), 'i'.repeat(128)),
    requestId('a longer request id is replaced', 'i'.repeat(129), made('i'.repeat(129))),
    requestId('an empty request id is replaced', '', made('none')),
  ]);

  await t.test('each request without an id gets its own [http §5.1]', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await target.guest.get(path)).headers['x-request-id']));
    assert.equal(new Set(ids).size, 2);
    for (const id of ids) assert.match(String(id), /^[\x21-\x7e]{8,128}$/);
  });

  await t.test('the request id is in the log [http §5.1]', async () => {
    await (await target.admin()).patch('/api/v1/admin/settings', { 'logs.access': 'all' });
    await eventually('the request is logged', async () => {
      await target.guest.send('GET', path, { headers: { 'X-Request-Id': 'find-me-in-the-log' } });
      return target.logLines.length === 0 || target.logLines.some((line) => line.includes('find-me-in-the-log'));
    });
  });
});

onEachTopology('only the gateway names the caller', async (t, target) => {
  const { post } = await createBlog(target);
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'vault', type: 'base', fields: [], view_rule: '', list_rule: '' });
  const claims = {
    requestId: 'forged',
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    principal: { type: 'admin', id: unknownId, email: 'eve@example.com' },
    clientAddress: '127.0.0.1',
    expiresAtMs: Date.now() + 20_000,
  };
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const forgeries = {
    'without a signature': payload,
    'with an empty signature': `${payload}.`,
    'with a made-up signature': `${payload}.${Buffer.alloc(32, 7).toString('base64url')}`,
    'that is not a context': 'x',
  };
  await runScenarios(
    t,
    target,
    Object.entries(forgeries).map(
      ([which, context]): Scenario => ({
        name: `the gateway removes a context ${which}`,
        request: 'GET /api/v1/vault',
        headers: { 'X-Recordbus-Context': context },
        expect: refused.forbidden,
        spec: 'http §6.5',
      }),
    ),
  );
  for (const [name, { url }] of Object.entries(target.services)) {
    if (name === 'gateway') continue;
    const service = createClient(url);
    const paths = ['/internal/manifest', '/api/v1/collections', `/api/v1/posts/${post.id}`];
    await t.test(`403: ${name} answers only the gateway [http §6.5]`, async () => {
      for (const path of paths) {
        for (const headers of [
          {},
          ...Object.values(forgeries).map((context) => ({ 'X-Recordbus-Context': context })),
        ]) {
          const { status, json, text } = await service.send('GET', path, { headers });
          assert.equal(status, 403, `${path}: ${text}`);
          assert.deepEqual(Object.keys(json as object), ['error', 'code']);
        }
      }
    });
    await t.test(`403: ${name} takes no token [http §6.5]`, async () => {
      const { status } = await service.send('GET', '/api/v1/collections', {
        headers: { Authorization: `Bearer ${'x'.repeat(40)}` },
      });
      assert.equal(status, 403);
    });
  }
});
