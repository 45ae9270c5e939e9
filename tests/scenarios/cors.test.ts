import { eventually } from '../harness/eventually.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { createBlog } from './blog.ts';

const app = 'https://app.example.com';
const stranger = 'https://stranger.example.net';

type Headers = Scenario['expect']['headers'];

const blocked: Headers = {
  vary: 'Origin',
  'access-control-allow-origin': null,
  'access-control-allow-credentials': null,
  'access-control-allow-methods': null,
  'access-control-allow-headers': null,
  'access-control-max-age': null,
  'access-control-expose-headers': null,
};

const exposed = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'WWW-Authenticate',
  'X-Service-Consistency',
];
const exposing = is.matching(
  new RegExp(['^', ...[...exposed, 'X-Request-Id'].map((name) => `(?=.*\\b${name}\\b)`)].join('')),
);

/** The answer's headers for a page from an allowed origin. */
const allowed = (origin: string): Headers => ({
  vary: 'Origin',
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': null,
  'access-control-expose-headers': exposing,
});

const preflight = (origin: string): Headers => ({
  vary: 'Origin',
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, X-Service-Idempotency-Key, If-None-Match, Idempotency-Key, Last-Event-ID, X-Service-Consistency',
  'access-control-max-age': '600',
});

const withCredentials: Headers = { 'access-control-allow-credentials': 'true' };

const row = (
  name: string,
  request: string,
  origin: string | undefined,
  status: number,
  headers: Headers = {},
  more: Partial<Scenario> = {},
): Scenario => ({
  name,
  request,
  ...more,
  headers: {
    ...(origin !== undefined && { Origin: origin }),
    ...(request.startsWith('OPTIONS') && { 'Access-Control-Request-Method': 'PATCH' }),
    ...more.headers,
  },
  expect: { status, headers },
  spec: 'http §10',
});

/** Changes the settings and waits until the gateway answers the stranger's preflight with `expected`. */
async function applySettings(target: Target, settings: Readonly<Record<string, string>>, expected: string | undefined) {
  await (await target.admin()).patch('/api/v1/admin/settings', settings);
  await eventually('the gateway applies the settings', async () => {
    const { headers } = await target.guest.send('OPTIONS', '/', { headers: { Origin: stranger } });
    const { 'access-control-allow-origin': origin, 'access-control-allow-credentials': credentials } = headers;
    return `${origin}${credentials ?? ''}` === `${expected}`;
  });
}

onEachTopology('only pages from allowed origins may read answers', async (t, target) => {
  const { post } = await createBlog(target);
  const list = 'GET /api/v1/posts';
  const path = `/api/v1/posts/${post.id}`;

  await t.test('all origins are blocked by default', (t2) =>
    runScenarios(t2, target, [
      row('an answer', list, app, 200, blocked),
      row('a refusal', 'GET /nowhere', app, 404, blocked),
      row('a preflight', `OPTIONS ${path}`, app, 204, blocked),
      row('an answer without an origin', list, undefined, 200, blocked),
    ]),
  );

  await applySettings(target, { 'cors.origins': `${app}, http://localhost:5173`, 'cors.max_age': '600' }, undefined);
  await t.test('listed origins may read', async (t2) => {
    await eventually('the origin is allowed', async () => {
      const { headers } = await target.guest.send('GET', '/healthz', { headers: { Origin: app } });
      return headers['access-control-allow-origin'] === app;
    });
    const json = { 'Content-Type': 'application/json' };
    await runScenarios(t2, target, [
      row('an answer', list, app, 200, allowed(app)),
      row('a HEAD', `HEAD ${path}`, app, 200, allowed(app)),
      row('an answer for the second origin', list, 'http://localhost:5173', 200, allowed('http://localhost:5173')),
      row('an answer for another origin', list, stranger, 200, blocked),
      row('the origin with another scheme', list, 'http://app.example.com', 200, blocked),
      row('the origin with another port', list, `${app}:8443`, 200, blocked),
      row('a subdomain of the origin', list, 'https://x.app.example.com', 200, blocked),
      row('a host that begins with the origin', list, `${app}.evil.example`, 200, blocked),
      row('the origin null', list, 'null', 200, blocked),
      row('no origin; the answer still has Vary', list, undefined, 200, blocked),
      row('a preflight', `OPTIONS ${path}`, app, 204, preflight(app)),
      row('a preflight of an unknown path', 'OPTIONS /no/such/path', app, 204, preflight(app)),
      row('a preflight from another origin', `OPTIONS ${path}`, stranger, 204, blocked),
      row('a readable 400', `${list}?page=x`, app, 400, allowed(app)),
      row('a readable 401', 'GET /api/v1/admin/settings', app, 401, allowed(app)),
      row('a readable 404', 'GET /nowhere', app, 404, allowed(app)),
      row('a readable 405', 'PATCH /api/v1/posts', app, 405, allowed(app)),
      row('a readable 413', 'POST /api/v1/posts', app, 413, allowed(app), {
        rawBody: 'x'.repeat(1024 * 1024 + 1),
        headers: json,
      }),
      row('a readable 415', 'POST /api/v1/posts', app, 415, allowed(app), { rawBody: 'x' }),
      row('a readable 422', 'POST /api/v1/posts', app, 422, allowed(app), { body: {} }),
    ]);
  });

  const patterns = 'https://*.preview.example.com, http://localhost:*, https://stranger.example.net';
  await applySettings(target, { 'cors.origins': patterns }, stranger);
  await t.test('origins with a wildcard may read', (t2) => {
    const preview = 'https://pr-7.preview.example.com';
    const admitted = [preview, 'http://localhost', 'http://localhost:5173'];
    const others = [
      'https://preview.example.com',
      'https://a.b.preview.example.com',
      `${preview}:8443`,
      `${preview}.evil.example`,
      'https://evil.example/.preview.example.com',
      'http://localhost.evil.example',
      'http://localhost:80.evil.example',
    ];
    return runScenarios(t2, target, [
      ...admitted.map((origin) => row(`an answer for ${origin}`, list, origin, 200, allowed(origin))),
      row('a preflight', `OPTIONS ${path}`, preview, 204, preflight(preview)),
      ...others.map((origin) => row(`an answer for ${origin}`, list, origin, 200, blocked)),
      ...['https://*', 'https://*.com', 'https://*.*.a.com', 'https://a*.example.com', 'http://localhost:8*'].map(
        (origin): Scenario => ({
          name: `the setting ${origin}`,
          as: 'admin',
          request: 'PATCH /api/v1/admin/settings',
          body: { 'cors.origins': origin },
          expect: refused.naming('cors.origins'),
          spec: 'http §10.1',
        }),
      ),
    ]);
  });

  await applySettings(
    target,
    { 'cors.methods': 'GET,PATCH', 'cors.headers': 'X-One', 'cors.max_age': '5', 'cors.origins': '*' },
    '*',
  );
  await t.test('with `*` every origin may read', (t2) =>
    runScenarios(t2, target, [
      row('an answer', list, stranger, 200, allowed('*')),
      row('a refusal', 'GET /nowhere', stranger, 404, allowed('*')),
      row('a preflight with methods and headers of the settings', `OPTIONS ${path}`, stranger, 204, {
        vary: 'Origin',
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, PATCH',
        'access-control-allow-headers': 'X-One, If-None-Match, Idempotency-Key, Last-Event-ID, X-Service-Consistency',
        'access-control-max-age': '5',
        'access-control-allow-credentials': null,
      }),
    ]),
  );

  await applySettings(target, { 'cors.credentials': '1' }, `${stranger}true`);
  await t.test('with `*` and credentials the answer names the origin', (t2) =>
    runScenarios(t2, target, [
      row('an answer', list, stranger, 200, { ...allowed(stranger), ...withCredentials }),
      row('a refusal', 'GET /nowhere', app, 404, { ...allowed(app), ...withCredentials }),
      row('a preflight', `OPTIONS ${path}`, stranger, 204, {
        vary: 'Origin',
        'access-control-allow-origin': stranger,
        ...withCredentials,
      }),
      row('the origin null, without credentials', list, 'null', 200, allowed('*')),
    ]),
  );

  const limits = JSON.stringify([{ label: '/api/v1/limited', max: 1, windowMs: 3_600_000 }]);
  await applySettings(
    target,
    { 'cors.origins': app, 'rate_limit.enabled': '1', 'rate_limit.rules': limits },
    undefined,
  );
  await t.test('an origin list with credentials applies to every answer, 429 too', (t2) =>
    runScenarios(t2, target, [
      row('an answer', list, app, 200, { ...allowed(app), ...withCredentials }),
      row('another origin', list, stranger, 200, blocked),
      row('the last allowed request', 'GET /api/v1/limited', app, 404, { ...allowed(app), ...withCredentials }),
      row('a readable 429', 'GET /api/v1/limited', app, 429, { ...allowed(app), ...withCredentials }),
      row('a preflight, which is not counted', 'OPTIONS /api/v1/limited', app, 204, { 'ratelimit-limit': null }),
    ]),
  );
  await (await target.admin()).patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
});
