import type { CallOptions, Client } from '@recordbus/client';

/** A client call, with the options that every call takes. */
export type Call = (client: Client<never>, options?: CallOptions) => unknown;

const credentials = { email: 'a', password: 'b' };
const users = (client: Client<never>) => client.auth('{collection}' as never);
const records = (client: Client<never>) => client.from('{collection}' as never);
const values = {} as never;

/** A client call for each route. Names in braces stand for the path's parameters. */
export const calls: Readonly<Record<string, Call>> = {
  'GET /api/v1/health': (c, o) => c.health(o),
  'GET /_/metrics': (c, o) => c.admin.metrics(o),
  'GET /readyz': (c, o) => c.admin.readiness(o),
  'GET /api/v1/admin/logs': (c, o) => c.admin.logs(undefined, o),
  'GET /api/v1/admin/logs/summary': (c, o) => c.admin.logSummary(undefined, o),
  'GET /api/v1/openapi.json': (c, o) => c.openapi(o),
  'POST /api/v1/admin/setup': (c, o) => c.admin.setup({ token: 't', ...credentials }, o),
  'POST /api/v1/admin/login': (c, o) => c.admin.login(credentials, o),
  'POST /api/v1/admin/login/mfa': (c, o) => c.admin.confirmMfa('t', { code: '1' }, o),
  'GET /api/v1/admin/totp': (c, o) => c.admin.secondFactor.status(o),
  'POST /api/v1/admin/totp/setup': (c, o) => c.admin.secondFactor.setUp({ oldPassword: 'o' }, o),
  'POST /api/v1/admin/totp/confirm': (c, o) => c.admin.secondFactor.confirm('1', o),
  'POST /api/v1/admin/totp/disable': (c, o) => c.admin.secondFactor.disable({ code: '1', oldPassword: 'o' }, o),
  'POST /api/v1/admin/totp/recovery/regenerate': (c, o) => c.admin.secondFactor.newCodes({ oldPassword: 'o' }, o),
  'POST /api/v1/admin/impersonate/{collection}/{id}': (c, o) => c.admin.impersonate('{collection}', '{id}', o),
  'GET /api/v1/admin/users/{collection}': (c, o) => c.admin.users.list('{collection}', undefined, o),
  'GET /api/v1/admin/users/{collection}/{id}': (c, o) => c.admin.users.get('{collection}', '{id}', o),
  'DELETE /api/v1/admin/users/{collection}/{id}/sessions': (c, o) =>
    c.admin.users.endSessions('{collection}', '{id}', o),
  'DELETE /api/v1/admin/users/{collection}/{id}/sessions/{session}': (c, o) =>
    c.admin.users.endSession('{collection}', '{id}', '{session}', o),
  'DELETE /api/v1/admin/users/{collection}/{id}/second-factor': (c, o) =>
    c.admin.users.resetSecondFactor('{collection}', '{id}', o),
  'DELETE /api/v1/admin/users/{collection}/{id}/links/{provider}': (c, o) =>
    c.admin.users.unlink('{collection}', '{id}', '{provider}', o),
  'POST /api/v1/admin/users/{collection}/{id}/block': (c, o) => c.admin.users.block('{collection}', '{id}', o),
  'POST /api/v1/admin/users/{collection}/{id}/unblock': (c, o) => c.admin.users.unblock('{collection}', '{id}', o),
  'POST /api/v1/admin/logout': (c, o) => c.admin.logout(o),
  'GET /api/v1/admin/sessions': (c, o) => c.admin.sessions.list(o),
  'DELETE /api/v1/admin/sessions': (c, o) => c.admin.sessions.endOthers(o),
  'DELETE /api/v1/admin/sessions/{id}': (c, o) => c.admin.sessions.end('{id}', o),
  'POST /api/v1/auth/{collection}/logout': (c, o) => users(c).logout(o),
  'GET /api/v1/auth/{collection}/sessions': (c, o) => users(c).sessions.list(o),
  'DELETE /api/v1/auth/{collection}/sessions': (c, o) => users(c).sessions.endOthers(o),
  'DELETE /api/v1/auth/{collection}/sessions/{id}': (c, o) => users(c).sessions.end('{id}', o),
  'POST /api/v1/auth/{collection}/register': (c, o) => users(c).register(credentials as never, o),
  'POST /api/v1/auth/{collection}/login': (c, o) => users(c).login(credentials, o),
  'POST /api/v1/auth/{collection}/login/mfa': (c, o) => users(c).confirmMfa('t', { code: '1' }, o),
  'POST /api/v1/auth/{collection}/request-password-reset': (c, o) => users(c).requestPasswordReset('a', o),
  'POST /api/v1/auth/{collection}/confirm-password-reset': (c, o) =>
    users(c).confirmPasswordReset({ token: 't', password: 'p' }, o),
  'POST /api/v1/auth/{collection}/change-password': (c, o) =>
    users(c).changePassword({ oldPassword: 'o', password: 'p' }, o),
  'POST /api/v1/auth/{collection}/request-verify': (c, o) => users(c).requestVerification(o),
  'POST /api/v1/auth/{collection}/verify-email': (c, o) => users(c).verifyEmail('t', o),
  'POST /api/v1/auth/{collection}/request-email-change': (c, o) =>
    users(c).requestEmailChange('a', { oldPassword: 'o', ...o }),
  'POST /api/v1/auth/{collection}/confirm-email-change': (c, o) => users(c).confirmEmailChange('t', o),
  'POST /api/v1/auth/{collection}/undo-email-change': (c, o) => users(c).undoEmailChange('t', o),
  'POST /api/v1/auth/{collection}/anonymous': (c, o) => users(c).anonymous(undefined, o),
  'POST /api/v1/auth/{collection}/promote': (c, o) => users(c).promote(credentials, o),
  'POST /api/v1/auth/{collection}/otp/request': (c, o) => users(c).requestCode('a', o),
  'POST /api/v1/auth/{collection}/otp/auth': (c, o) => users(c).loginWithCode({ token: 't' }, o),
  'GET /api/v1/auth/{collection}/oauth2/providers': (c, o) => users(c).oauth.providers(o),
  'GET /api/v1/auth/{collection}/oauth2/authorize': (c, o) =>
    users(c).oauth.begin({ provider: 'p', redirectUri: 'r' }, o),
  'POST /api/v1/auth/{collection}/oauth2/exchange': (c, o) =>
    users(c).oauth.complete({ provider: 'p', code: 'c', redirectUri: 'r', state: 's' }, o),
  'POST /api/v1/auth/{collection}/oauth2/merge-confirm': (c, o) => users(c).confirmMerge('t', { password: 'p' }, o),
  'DELETE /api/v1/auth/{collection}/oauth2/{provider}/unlink': (c, o) => users(c).oauth.unlink('{provider}', o),
  'POST /api/v1/auth/{collection}/totp/setup': (c, o) => users(c).totp.setup(o),
  'POST /api/v1/auth/{collection}/totp/confirm': (c, o) => users(c).totp.confirm('1', o),
  'POST /api/v1/auth/{collection}/totp/disable': (c, o) => users(c).totp.disable({ code: '1', oldPassword: 'o' }, o),
  'POST /api/v1/auth/{collection}/totp/recovery/regenerate': (c, o) => users(c).totp.regenerateRecoveryCodes(o),
  'GET /api/v1/auth/{collection}/totp/recovery/status': (c, o) => users(c).totp.recoveryStatus(o),
  'POST /api/v1/admin/settings/test-email': (c, o) => c.admin.settings.testEmail({ to: 'a' }, o),
  'GET /api/v1/{collection}': (c, o) => records(c).list(o),
  'POST /api/v1/{collection}': (c, o) => records(c).create(values, o),
  'PUT /api/v1/{collection}': (c, o) => records(c).upsert({ on: ['a' as never] }, values, o),
  'GET /api/v1/{collection}/{id}': (c, o) => records(c).get('{id}', o),
  'PATCH /api/v1/{collection}/{id}': (c, o) => records(c).update('{id}', values, o),
  'PUT /api/v1/{collection}/{id}': (c, o) => records(c).upsert('{id}', values, o),
  'DELETE /api/v1/{collection}/{id}': (c, o) => records(c).delete('{id}', o),
  'GET /api/v1/{collection}/{id}/history': (c, o) => records(c).history('{id}', o),
  'POST /api/v1/{collection}/{id}/restore': (c, o) => records(c).restore('{id}', { at: 1 }, o),
  'GET /api/v1/records/{collection}/aggregate': (c, o) => records(c).aggregate({ count: true, ...o }),
  'POST /api/v1/records/{collection}/import': (c, o) => records(c).import('[]', { format: 'json', ...o }),
  'GET /api/v1/records/{collection}/export': (c, o) => records(c).export(o),
  'GET /api/v1/jobs': (c, o) => c.admin.jobs.list(undefined, o),
  'GET /api/v1/jobs/{id}': (c, o) => c.admin.jobs.get('{id}', o),
  'GET /api/v1/jobs/{id}/refused': (c, o) => c.admin.jobs.refused('{id}', o),
  'POST /api/v1/jobs/{id}/pause': (c, o) => c.admin.jobs.pause('{id}', o),
  'POST /api/v1/jobs/{id}/resume': (c, o) => c.admin.jobs.resume('{id}', o),
  'POST /api/v1/jobs/{id}/cancel': (c, o) => c.admin.jobs.cancel('{id}', o),
  'POST /api/v1/batch': (c, o) => c.batch(() => [], o),
  'GET /api/v1/files/{collection}/{id}/{filename}': (c, o) =>
    records(c)
      .file({ id: '{id}', file: '{filename}' } as { id: string }, 'file' as never)
      ?.fetch(o),
  'POST /api/v1/files/token': (c, o) => c.fileToken(o),
  'GET /api/v1/admin/backups': (c, o) => c.admin.backups.list(undefined, o),
  'POST /api/v1/admin/backups': (c, o) => c.admin.backups.start(o),
  'GET /api/v1/admin/backups/{id}': (c, o) => c.admin.backups.get('{id}', o),
  'DELETE /api/v1/admin/backups/{id}': (c, o) => c.admin.backups.delete('{id}', o),
  'GET /api/v1/admin/backups/{id}/archive': (c, o) => c.admin.backups.download('{id}', o),
  'GET /api/v1/admin/crons': (c, o) => c.admin.crons.list(o),
  'GET /api/v1/admin/crons/{name}/runs': (c, o) => c.admin.crons.runs('{name}', undefined, o),
  'POST /api/v1/admin/crons/{name}/run': (c, o) => c.admin.crons.run('{name}', o),
  'GET /api/v1/collections': (c, o) => c.admin.collections.list(o),
  'POST /api/v1/collections': (c, o) => c.admin.collections.create({}, o),
  'GET /api/v1/collections/{collection}': (c, o) => c.admin.collections.get('{collection}', o),
  'PATCH /api/v1/collections/{collection}': (c, o) => c.admin.collections.update('{collection}', {}, o),
  'DELETE /api/v1/collections/{collection}': (c, o) => c.admin.collections.delete('{collection}', o),
  'POST /api/v1/admin/collections/{collection}/try-rule': (c, o) =>
    c.admin.collections.tryRule('{collection}', { action: 'list', rule: null }, o),
  'POST /api/v1/admin/views/preview': (c, o) => c.admin.collections.previewView('select 1', o),
  'POST /api/v1/collections/{collection}/fields': (c, o) => c.admin.collections.fields.add('{collection}', values, o),
  'PATCH /api/v1/collections/{collection}/fields/{field}': (c, o) =>
    c.admin.collections.fields.update('{collection}', '{field}', {}, o),
  'DELETE /api/v1/collections/{collection}/fields/{field}': (c, o) =>
    c.admin.collections.fields.delete('{collection}', '{field}', o),
  'GET /api/v1/admin/collections/{collection}/indexes': (c, o) => c.admin.collections.indexes.list('{collection}', o),
  'POST /api/v1/admin/collections/{collection}/indexes': (c, o) =>
    c.admin.collections.indexes.create('{collection}', values, o),
  'DELETE /api/v1/admin/collections/{collection}/indexes/{index}': (c, o) =>
    c.admin.collections.indexes.delete('{collection}', '{index}', o),
  'GET /api/v1/admin/migrations/snapshot': (c, o) => c.admin.collections.snapshot(o),
  'POST /api/v1/admin/migrations/apply': (c, o) => c.admin.collections.apply(values, undefined, o),
  'GET /api/v1/admin/schema': (c, o) => c.admin.collections.schema.get(o),
  'POST /api/v1/admin/schema/plan': (c, o) => c.admin.collections.schema.plan({ schema: values }, o),
  'POST /api/v1/admin/schema/apply': (c, o) => c.admin.collections.schema.apply({ schema: values, hash: 'h' }, o),
  'GET /api/v1/admin/keys': (c, o) => c.admin.keys.list(undefined, o),
  'POST /api/v1/admin/keys': (c, o) => c.admin.keys.create({ name: 'n', scopes: [] }, o),
  'GET /api/v1/admin/keys/{id}': (c, o) => c.admin.keys.get('{id}', o),
  'PATCH /api/v1/admin/keys/{id}': (c, o) => c.admin.keys.update('{id}', {}, o),
  'DELETE /api/v1/admin/keys/{id}': (c, o) => c.admin.keys.delete('{id}', o),
  'GET /api/v1/admin/audit': (c, o) => c.admin.audit(undefined, o),
  'GET /api/v1/admin/me': (c, o) => c.admin.me(o),
  'GET /api/v1/admin/admins': (c, o) => c.admin.admins.list(o),
  'POST /api/v1/admin/admins': (c, o) => c.admin.admins.create(credentials, o),
  'PATCH /api/v1/admin/admins/{id}': (c, o) => c.admin.admins.update('{id}', {}, o),
  'DELETE /api/v1/admin/admins/{id}': (c, o) => c.admin.admins.delete('{id}', o),
  'GET /api/v1/admin/settings': (c, o) => c.admin.settings.get(o),
  'GET /api/v1/admin/settings/groups': (c, o) => c.admin.settings.groups(o),
  'PATCH /api/v1/admin/settings': (c, o) => c.admin.settings.update({}, o),
  'GET /api/v1/admin/theme': (c, o) => c.admin.theme(o),
  'GET /api/v1/admin/webhooks': (c, o) => c.admin.webhooks.list(undefined, o),
  'POST /api/v1/admin/webhooks': (c, o) => c.admin.webhooks.create({}, o),
  'GET /api/v1/admin/webhooks/{id}': (c, o) => c.admin.webhooks.get('{id}', o),
  'PATCH /api/v1/admin/webhooks/{id}': (c, o) => c.admin.webhooks.update('{id}', {}, o),
  'DELETE /api/v1/admin/webhooks/{id}': (c, o) => c.admin.webhooks.delete('{id}', o),
  'POST /api/v1/admin/webhooks/{id}/regenerate-secret': (c, o) => c.admin.webhooks.regenerateSecret('{id}', o),
  'GET /api/v1/admin/webhooks/{id}/status': (c, o) => c.admin.webhooks.status('{id}', o),
  'POST /api/v1/admin/webhooks/{id}/test': (c, o) => c.admin.webhooks.test('{id}', o),
  'GET /api/v1/admin/webhooks/{id}/deliveries': (c, o) => c.admin.webhooks.deliveries('{id}', undefined, o),
  'GET /api/v1/admin/webhooks/{id}/deliveries/{deliveryId}': (c, o) =>
    c.admin.webhooks.delivery('{id}', '{deliveryId}', o),
  'POST /api/v1/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver': (c, o) =>
    c.admin.webhooks.redeliver('{id}', '{deliveryId}', o),
  'POST /api/v1/admin/webhooks/{id}/replay': (c, o) => c.admin.webhooks.replay('{id}', { since: 0 }, o),
  'POST /api/v1/admin/notifications/test': (c, o) => c.admin.notifications.test({}, o),
  'GET /api/v1/admin/events': (c, o) => c.admin.events.list(undefined, o),
  'GET /api/v1/admin/events/{id}': (c, o) => c.admin.events.get('{id}', o),
  'GET /api/v1/admin/deliveries/summary': (c, o) => c.admin.webhooks.summary(undefined, o),
  'GET /api/v1/admin/events/schema': (c, o) => c.admin.collections.eventSchema(o),
  'POST /api/v1/realtime/channels/{name}': (c, o) => c.broadcast('{name}', 1, o),
};

/** The routes without a function in the client, and why. */
export const without: Readonly<Record<string, string>> = {
  'GET /healthz': 'for load balancers',
  'GET /api/v1/metrics': 'for Prometheus',
  'GET /docs': 'a page',
  'GET /_': 'a page',
  'GET /_/assets/{file}': 'a part of a page',
  'POST /api/v1/auth/refresh': 'the client refreshes by itself',
  'GET /api/v1/realtime': 'live connections use POST',
  'POST /api/v1/realtime': 'live connections have tests of their own',
  'POST /api/v1/realtime/ticket': 'for EventSource and WebSocket, which the client does not use',
};
