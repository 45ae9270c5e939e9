import assert from 'node:assert/strict';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { mintUserToken } from '../harness/sign-in/tokens.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, replicaCount } from '../harness/stacks/target.ts';

/** Several gateways order requests by the second. */
async function nextSecond(): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  await eventually('the next second begins', () => Date.now() / 1000 >= now + 1);
}

onEachTopology('admins search the request log', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const me = textAt((await admin.get('/api/v1/admin/me')).json, 'data.id');
  const startedAtSec = Math.floor(Date.now() / 1000);
  // All have the same request id, so that the stack's other requests are not among the rows.
  const headers = { 'X-Request-Id': 'search-me', 'User-Agent': 'scenario/2' };
  const impersonating = createClient(
    target.url,
    await mintUserToken(target.secret, { id: user.id, collection: 'members', impersonated_by: me }),
  );
  const requests: readonly [Client, string, string, object?][] = [
    [target.guest, 'GET', '/api/v1/health?token=hidden.away&q=1'],
    [target.guest, 'GET', '/api/v1/nowhere/100%25_x'],
    [user, 'GET', '/api/v1/admin/settings'],
    [impersonating, 'GET', '/api/v1/health'],
    [admin, 'POST', '/api/v1/collections', { name: 'v1' }],
  ];
  for (const [client, method, requested, body] of requests) {
    await client.send(method, requested, { body, headers });
    // A refusal for an unknown path waits for its second's end.
    if (replicaCount > 1 || requested.includes('/nowhere/')) await nextSecond();
  }

  const row = (method: string, path: string, status: number, more: object = {}) => ({
    id: is.uuid,
    at: is.now,
    method,
    path,
    status,
    duration_ms: is.number,
    ip: is.text,
    user_agent: 'scenario/2',
    principal_type: 'guest',
    principal_id: null,
    auth_impersonated_by: null,
    request_id: 'search-me',
    trace_id: is.text,
    count: 1,
    ...more,
  });
  const expected = [
    row('POST', '/api/v1/collections', 422, { principal_type: 'admin', principal_id: me }),
    row('GET', '/api/v1/health', 200, { principal_type: 'user', principal_id: user.id, auth_impersonated_by: me }),
    row('GET', '/api/v1/admin/settings', 403, { principal_type: 'user', principal_id: user.id }),
    row('GET', '/api/v1/nowhere/100%25_x', 404),
    row('GET', '/api/v1/health', 200),
  ];
  const path = '/api/v1/admin/logs?request_id=search-me';
  await eventually(
    'all requests are logged',
    async () => listAt((await admin.get(path)).json, 'data').length === expected.length,
  );
  const finds = (name: string, query: string, ...places: readonly number[]): Scenario => ({
    name,
    as: 'admin',
    request: `GET ${path}${query}`,
    expect: {
      status: 200,
      json: {
        data: places.map((place) => expected[place]),
        page: 1,
        perPage: 30,
        totalItems: places.length,
        totalPages: Math.min(places.length, 1),
      },
    },
    spec: 'admins §7.2',
  });
  const isRefused = (name: string, query: string, parameter: string): Scenario => ({
    name,
    as: 'admin',
    request: `GET /api/v1/admin/logs${query}`,
    expect: refused.malformedWith({ [parameter]: is.text }),
    spec: 'http §2.5',
  });
  await runScenarios(t, target, [
    finds('all rows, newest first, without queries', '', 0, 1, 2, 3, 4),
    finds('a status', '&status=404', 3),
    finds('a class of status', '&status=4xx', 0, 2, 3),
    finds('a method in another case', '&method=post', 0),
    finds('a prefix of the path, without wildcards', '&path=/api/v1/nowhere/100%2525_', 3),
    finds('a prefix without matches', '&path=/api/v1/nowhere/100%2525a'),
    finds('a type of caller', '&principal_type=guest', 3, 4),
    finds('several types of callers', '&principal_type=user,guest', 1, 2, 3, 4),
    finds('a caller', `&principal_id=${user.id}`, 1, 2),
    finds('an admin who impersonated a user', `&auth_impersonated_by=${me}`, 1),
    finds('rows since a second', `&since=${startedAtSec}`, 0, 1, 2, 3, 4),
    finds('rows until a second', `&until=${startedAtSec - 1}`),
    finds('several filters', '&status=2xx&principal_type=user', 1),
    {
      name: 'a page of rows',
      as: 'admin',
      request: `GET ${path}&perPage=2&page=2`,
      expect: {
        status: 200,
        json: { data: [expected[2], expected[3]], page: 2, perPage: 2, totalItems: 5, totalPages: 3 },
      },
      spec: 'admins §7.1',
    },
    ...['since=2000&until=1000', 'since=1&until=2678402'].map((query) => ({
      name: `a summary of ${query}`,
      as: 'admin' as const,
      request: `GET /api/v1/admin/logs/summary?${query}`,
      expect: refused.malformed,
      spec: 'admins §7.4',
    })),
    {
      name: 'a summary of a time without requests',
      as: 'admin',
      request: 'GET /api/v1/admin/logs/summary?since=1000&until=1999&buckets=10',
      expect: {
        status: 200,
        json: { data: { since: 1000, until: 1999, step_s: 100, is_complete: true, buckets: [] } },
      },
      spec: 'admins §7.4',
    },
    {
      name: 'a summary for a user',
      as: 'user',
      request: 'GET /api/v1/admin/logs/summary',
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    {
      name: 'rows without totals',
      as: 'admin',
      request: `GET ${path}&perPage=2&skipTotal=1`,
      expect: {
        status: 200,
        json: { data: expected.slice(0, 2), page: 1, perPage: 2, totalItems: -1, totalPages: -1 },
      },
      spec: 'admins §7.2',
    },
    isRefused('an invalid status', '?status=9xx', 'status'),
    isRefused('a time that is not a number', '?since=yesterday', 'since'),
    isRefused('a page that is not a number', '?page=x', 'page'),
    { name: 'a user', as: 'user', request: `GET ${path}`, expect: refused.forbidden, spec: 'http §6.3' },
    { name: 'a guest', request: `GET ${path}`, expect: refused.unauthenticated, spec: 'http §6.2' },
  ]);
  await t.test('a summary counts and measures [admins §7.4]', async () => {
    const { json } = await admin.get(`/api/v1/admin/logs/summary?since=${startedAtSec - 60}&buckets=2`);
    const buckets = listAt(json, 'data.buckets');
    const sum = (name: string) => buckets.reduce((total, bucket) => total + Number(bucket[name]), 0);
    assert.ok(sum('requests') >= 5 && sum('refused') >= 3 && sum('requests') > sum('refused'), JSON.stringify(json));
    assert.ok(buckets.every(({ p50_ms, p95_ms }) => Number(p50_ms) <= Number(p95_ms)));
  });
  await t.test('tokens in queries are not stored', async () => {
    const { text } = await admin.get('/api/v1/admin/logs?perPage=1000');
    assert.ok(text.includes('search-me'));
    assert.ok(!text.includes('hidden.away'));
  });
});
