import assert from 'node:assert/strict';
import { type Client, createClient, memoryStore } from '@recordbus/client';
import { objectAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/target.ts';

type Call = (client: Client<never>) => unknown;

const credentials = { email: 'a', password: 'b' };
const users = (client: Client<never>) => client.auth('{collection}' as never);
const records = (client: Client<never>) => client.from('{collection}' as never);
const values = {} as never;

/** A call of the client for each route. Names in braces stand for the parameters of the path. */
const calls: Readonly<Record<string, Call>> = {
  'GET /api/v1/health': (c) => c.health(),
  'GET /_/metrics': (c) => c.admin.metrics(),
  'GET /api/v1/admin/logs': (c) => c.admin.logs(),
  'GET /api/v1/openapi.json': (c) => c.openapi(),
  'POST /api/v1/admin/setup': (c) => c.admin.setup({ token: 't', ...credentials }),
  'POST /api/v1/admin/login': (c) => c.admin.login(credentials),
  'POST /api/v1/admin/impersonate/{collection}/{id}': (c) => c.admin.impersonate('{collection}', '{id}'),
  'POST /api/v1/admin/logout': (c) => c.admin.logout(),
  'GET /api/v1/admin/sessions': (c) => c.admin.sessions.list(),
  'DELETE /api/v1/admin/sessions': (c) => c.admin.sessions.endOthers(),
  'DELETE /api/v1/admin/sessions/{id}': (c) => c.admin.sessions.end('{id}'),
  'POST /api/v1/auth/{collection}/logout': (c) => users(c).logout(),
  'GET /api/v1/auth/{collection}/sessions': (c) => users(c).sessions.list(),
  'DELETE /api/v1/auth/{collection}/sessions': (c) => users(c).sessions.endOthers(),
  'DELETE /api/v1/auth/{collection}/sessions/{id}': (c) => users(c).sessions.end('{id}'),
  'POST /api/v1/auth/{collection}/register': (c) => users(c).register(credentials as never),
  'POST /api/v1/auth/{collection}/login': (c) => users(c).login(credentials),
  'POST /api/v1/auth/{collection}/login/mfa': (c) => users(c).confirmMfa('t', { code: '1' }),
  'POST /api/v1/auth/{collection}/request-password-reset': (c) => users(c).requestPasswordReset('a'),
  'POST /api/v1/auth/{collection}/confirm-password-reset': (c) =>
    users(c).confirmPasswordReset({ token: 't', password: 'p' }),
  'POST /api/v1/auth/{collection}/change-password': (c) => users(c).changePassword({ oldPassword: 'o', password: 'p' }),
  'POST /api/v1/auth/{collection}/request-verify': (c) => users(c).requestVerification(),
  'POST /api/v1/auth/{collection}/verify-email': (c) => users(c).verifyEmail('t'),
  'POST /api/v1/auth/{collection}/request-email-change': (c) => users(c).requestEmailChange('a', { oldPassword: 'o' }),
  'POST /api/v1/auth/{collection}/confirm-email-change': (c) => users(c).confirmEmailChange('t'),
  'POST /api/v1/auth/{collection}/undo-email-change': (c) => users(c).undoEmailChange('t'),
  'POST /api/v1/auth/{collection}/anonymous': (c) => users(c).anonymous(),
  'POST /api/v1/auth/{collection}/promote': (c) => users(c).promote(credentials),
  'POST /api/v1/auth/{collection}/otp/request': (c) => users(c).requestCode('a'),
  'POST /api/v1/auth/{collection}/otp/auth': (c) => users(c).loginWithCode({ token: 't' }),
  'GET /api/v1/auth/{collection}/oauth2/providers': (c) => users(c).oauth.providers(),
  'GET /api/v1/auth/{collection}/oauth2/authorize': (c) => users(c).oauth.begin({ provider: 'p', redirectUri: 'r' }),
  'POST /api/v1/auth/{collection}/oauth2/exchange': (c) =>
    users(c).oauth.complete({ provider: 'p', code: 'c', redirectUri: 'r', state: 's' }),
  'POST /api/v1/auth/{collection}/oauth2/merge-confirm': (c) => users(c).confirmMerge('t', { password: 'p' }),
  'DELETE /api/v1/auth/{collection}/oauth2/{provider}/unlink': (c) => users(c).oauth.unlink('{provider}'),
  'POST /api/v1/auth/{collection}/totp/setup': (c) => users(c).totp.setup(),
  'POST /api/v1/auth/{collection}/totp/confirm': (c) => users(c).totp.confirm('1'),
  'POST /api/v1/auth/{collection}/totp/disable': (c) => users(c).totp.disable({ code: '1', oldPassword: 'o' }),
  'POST /api/v1/auth/{collection}/totp/recovery/regenerate': (c) => users(c).totp.regenerateRecoveryCodes(),
  'GET /api/v1/auth/{collection}/totp/recovery/status': (c) => users(c).totp.recoveryStatus(),
  'POST /api/v1/admin/settings/test-email': (c) => c.admin.settings.testEmail({ to: 'a' }),
  'GET /api/v1/{collection}': (c) => records(c).list(),
  'POST /api/v1/{collection}': (c) => records(c).create(values),
  'PUT /api/v1/{collection}': (c) => records(c).upsert({ on: ['a' as never] }, values),
  'GET /api/v1/{collection}/{id}': (c) => records(c).get('{id}'),
  'PATCH /api/v1/{collection}/{id}': (c) => records(c).update('{id}', values),
  'PUT /api/v1/{collection}/{id}': (c) => records(c).upsert('{id}', values),
  'DELETE /api/v1/{collection}/{id}': (c) => records(c).delete('{id}'),
  'GET /api/v1/{collection}/{id}/history': (c) => records(c).history('{id}'),
  'POST /api/v1/{collection}/{id}/restore': (c) => records(c).restore('{id}', { at: 1 }),
  'GET /api/v1/records/{collection}/aggregate': (c) => records(c).aggregate({ count: true }),
  'POST /api/v1/records/{collection}/import': (c) => records(c).import('[]', { format: 'json' }),
  'GET /api/v1/records/{collection}/export': (c) => records(c).export(),
  'GET /api/v1/jobs': (c) => c.admin.jobs.list(),
  'GET /api/v1/jobs/{id}': (c) => c.admin.jobs.get('{id}'),
  'GET /api/v1/jobs/{id}/refused': (c) => c.admin.jobs.refused('{id}'),
  'POST /api/v1/jobs/{id}/pause': (c) => c.admin.jobs.pause('{id}'),
  'POST /api/v1/jobs/{id}/resume': (c) => c.admin.jobs.resume('{id}'),
  'POST /api/v1/jobs/{id}/cancel': (c) => c.admin.jobs.cancel('{id}'),
  'POST /api/v1/batch': (c) => c.batch(() => []),
  'GET /api/v1/files/{collection}/{id}/{filename}': (c) =>
    records(c)
      .file({ id: '{id}', file: '{filename}' } as { id: string }, 'file' as never)
      ?.fetch(),
  'POST /api/v1/files/token': (c) => c.fileToken(),
  'GET /api/v1/admin/crons': (c) => c.admin.crons.list(),
  'GET /api/v1/admin/crons/{name}/runs': (c) => c.admin.crons.runs('{name}'),
  'POST /api/v1/admin/crons/{name}/run': (c) => c.admin.crons.run('{name}'),
  'GET /api/v1/collections': (c) => c.admin.collections.list(),
  'POST /api/v1/collections': (c) => c.admin.collections.create({}),
  'GET /api/v1/collections/{collection}': (c) => c.admin.collections.get('{collection}'),
  'PATCH /api/v1/collections/{collection}': (c) => c.admin.collections.update('{collection}', {}),
  'DELETE /api/v1/collections/{collection}': (c) => c.admin.collections.delete('{collection}'),
  'POST /api/v1/collections/{collection}/fields': (c) => c.admin.collections.fields.add('{collection}', values),
  'PATCH /api/v1/collections/{collection}/fields/{field}': (c) =>
    c.admin.collections.fields.update('{collection}', '{field}', {}),
  'DELETE /api/v1/collections/{collection}/fields/{field}': (c) =>
    c.admin.collections.fields.delete('{collection}', '{field}'),
  'GET /api/v1/admin/collections/{collection}/indexes': (c) => c.admin.collections.indexes.list('{collection}'),
  'POST /api/v1/admin/collections/{collection}/indexes': (c) =>
    c.admin.collections.indexes.create('{collection}', values),
  'DELETE /api/v1/admin/collections/{collection}/indexes/{index}': (c) =>
    c.admin.collections.indexes.delete('{collection}', '{index}'),
  'GET /api/v1/admin/migrations/snapshot': (c) => c.admin.collections.snapshot(),
  'POST /api/v1/admin/migrations/apply': (c) => c.admin.collections.apply(values),
  'GET /api/v1/admin/schema': (c) => c.admin.collections.schema.get(),
  'POST /api/v1/admin/schema/plan': (c) => c.admin.collections.schema.plan({ schema: values }),
  'POST /api/v1/admin/schema/apply': (c) => c.admin.collections.schema.apply({ schema: values, hash: 'h' }),
  'GET /api/v1/admin/keys': (c) => c.admin.keys.list(),
  'POST /api/v1/admin/keys': (c) => c.admin.keys.create({ name: 'n', scopes: [] }),
  'GET /api/v1/admin/keys/{id}': (c) => c.admin.keys.get('{id}'),
  'PATCH /api/v1/admin/keys/{id}': (c) => c.admin.keys.update('{id}', {}),
  'DELETE /api/v1/admin/keys/{id}': (c) => c.admin.keys.delete('{id}'),
  'GET /api/v1/admin/audit': (c) => c.admin.audit(),
  'GET /api/v1/admin/me': (c) => c.admin.me(),
  'GET /api/v1/admin/admins': (c) => c.admin.admins.list(),
  'POST /api/v1/admin/admins': (c) => c.admin.admins.create(credentials),
  'PATCH /api/v1/admin/admins/{id}': (c) => c.admin.admins.update('{id}', {}),
  'DELETE /api/v1/admin/admins/{id}': (c) => c.admin.admins.delete('{id}'),
  'GET /api/v1/admin/settings': (c) => c.admin.settings.get(),
  'PATCH /api/v1/admin/settings': (c) => c.admin.settings.update({}),
  'GET /api/v1/admin/theme': (c) => c.admin.theme(),
  'GET /api/v1/admin/webhooks': (c) => c.admin.webhooks.list(),
  'POST /api/v1/admin/webhooks': (c) => c.admin.webhooks.create({}),
  'GET /api/v1/admin/webhooks/{id}': (c) => c.admin.webhooks.get('{id}'),
  'PATCH /api/v1/admin/webhooks/{id}': (c) => c.admin.webhooks.update('{id}', {}),
  'DELETE /api/v1/admin/webhooks/{id}': (c) => c.admin.webhooks.delete('{id}'),
  'POST /api/v1/admin/webhooks/{id}/regenerate-secret': (c) => c.admin.webhooks.regenerateSecret('{id}'),
  'GET /api/v1/admin/webhooks/{id}/status': (c) => c.admin.webhooks.status('{id}'),
  'POST /api/v1/admin/webhooks/{id}/test': (c) => c.admin.webhooks.test('{id}'),
  'GET /api/v1/admin/webhooks/{id}/deliveries': (c) => c.admin.webhooks.deliveries('{id}'),
  'GET /api/v1/admin/webhooks/{id}/deliveries/{deliveryId}': (c) => c.admin.webhooks.delivery('{id}', '{deliveryId}'),
  'POST /api/v1/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver': (c) =>
    c.admin.webhooks.redeliver('{id}', '{deliveryId}'),
  'POST /api/v1/admin/webhooks/{id}/replay': (c) => c.admin.webhooks.replay('{id}', { since: 0 }),
  'POST /api/v1/admin/notifications/test': (c) => c.admin.notifications.test({}),
  'GET /api/v1/admin/events/schema': (c) => c.admin.collections.eventSchema(),
  'POST /api/v1/realtime/channels/{name}': (c) => c.broadcast('{name}', 1),
};

/** The routes that the client has no function for, and why. */
const without: Readonly<Record<string, string>> = {
  'GET /healthz': 'for load balancers',
  'GET /readyz': 'for load balancers',
  'GET /api/v1/metrics': 'for Prometheus',
  'GET /docs': 'a page',
  'GET /_': 'a page',
  'GET /_/assets/{file}': 'a part of a page',
  'GET /docs/reference.css': 'a part of a page',
  'GET /docs/reference.js': 'a part of a page',
  'POST /api/v1/auth/refresh': 'the client refreshes by itself',
  'GET /api/v1/realtime': 'live connections use POST',
  'POST /api/v1/realtime': 'live connections have tests of their own',
  'POST /api/v1/realtime/ticket': 'for EventSource and WebSocket, which the client does not use',
};

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
