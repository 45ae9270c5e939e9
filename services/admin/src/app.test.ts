import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { manifestPath, type RouteManifest } from '@recordbus/http';
import { skip, startTestAdmin, type TestAdmin } from '../test/test-admin.ts';

describe('the admin service', { skip }, () => {
  let admin: TestAdmin;
  before(async () => {
    admin = await startTestAdmin();
  });
  after(() => admin.stop());

  test("lists its routes for the gateway, which are for admins except the theme, the pages and owners' webhooks", async () => {
    const { status, body } = await admin.call('GET', manifestPath);
    assert.equal(status, 200);
    const routes = body.data as RouteManifest[];
    const open = routes.filter(({ access }) => access !== 'admin').flatMap(({ paths }) => paths);
    assert.deepEqual(
      open.filter((path) => !/^\/(_|api\/v1\/(webhooks|portal)(\/|$))/.test(path)),
      ['/api/v1/admin/theme', '/docs', '/'],
    );
    const names = routes.flatMap(({ method, paths }) => paths.map((path) => `${method} ${path}`));
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.includes('PATCH /api/v1/collections/:collection'));
  });

  test('unknown routes and methods are 404 and 405', async () => {
    assert.equal((await admin.call('GET', '/api/v1/admin/nothing')).status, 404);
    assert.equal((await admin.call('PUT', '/api/v1/collections', {})).status, 405);
  });
});
