import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createDispatcher, describeRoutes, type ListeningServer, listen } from '@recordbus/http';
import { createLogger } from '@recordbus/process/logging';
import type { Principal } from '@recordbus/request/context';
import { createSettings, isStateKey, type Settings, settingKeys } from '@recordbus/settings';
import { settingsRoutes } from './settings.ts';

const log = createLogger('settings routes test', 'silent');
const admin: Principal = { type: 'admin', id: 'a', email: 'admin@example.com' };
const user: Principal = {
  type: 'user',
  id: 'u',
  email: 'u@example.com',
  collection: 'users',
  anonymous: false,
  impersonatedBy: null,
};
const guest: Principal = { type: 'guest', rejectedToken: false };

suite('settings routes', { skip: skipWithoutDatabase }, () => {
  let own: OpenTemporaryDatabase;
  let database: Database;
  let settings: Settings;
  let otherReplica: Settings;
  let server: ListeningServer;
  let principal: Principal = admin;
  let notices = 0;

  before(async () => {
    own = await openTemporaryDatabase();
    database = own.database;
    const cipher = createValueCipher('a passphrase');
    // There is no bus: the routes work without it.
    const bus = { notify: () => (notices += 1), onNotice: () => () => {} };
    [settings, otherReplica] = [1, 2].map(() => createSettings({ database, bus, log, cipher })) as [Settings, Settings];
    await Promise.all([settings.start(), otherReplica.start()]);
    const handle = createDispatcher(settingsRoutes({ database, bus, cipher, settings }), {
      log,
      mapError: mapDatabaseError,
    });
    server = await listen(
      (request, response) =>
        void handle(request, response, {
          requestId: 'r',
          traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-00`,
          principal,
          clientAddress: '127.0.0.1',
        }),
      { port: 0, host: '127.0.0.1' },
    );
  });
  after(async () => {
    await server.close();
    await settings.stop();
    await otherReplica.stop();
    await own.remove();
  });

  interface Answer {
    readonly status: number;
    readonly body: {
      readonly data?: Record<string, string>;
      readonly code?: string;
      readonly details?: Record<string, string>;
    };
  }

  async function call(
    method: string,
    path: string,
    { as = admin, body }: { as?: Principal; body?: unknown } = {},
  ): Promise<Answer> {
    principal = as;
    const response = await fetch(`${server.url}/api/v1/admin/${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }
  const read = async () => (await call('GET', 'settings')).body.data ?? {};

  test('GET returns every key as a text, including defaults', async () => {
    const { status, body } = await call('GET', 'settings');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body.data ?? {}).toSorted(), [...settingKeys].toSorted());
    assert.ok(Object.values(body.data ?? {}).every((text) => typeof text === 'string'));
    assert.equal(body.data?.['cors.max_age'], '600');
  });

  test('PATCH changes only named settings, returns all with secrets decrypted, and sends a notice on the bus', async () => {
    const noticesBefore = notices;
    const { status, body } = await call('PATCH', 'settings', { body: { 'smtp.pass': 'hunter2', 'cors.max_age': '5' } });
    assert.equal(status, 200);
    assert.equal(body.data?.['smtp.pass'], 'hunter2');
    assert.equal(body.data?.['cors.max_age'], '5');
    assert.equal(body.data?.['smtp.port'], '587');
    assert.equal(notices, noticesBefore + 1);
    assert.deepEqual(await read(), body.data);
    assert.equal(
      (await call('PATCH', 'settings', { body: { 'cors.max_age': '' } })).body.data?.['cors.max_age'],
      '600',
    );
    assert.equal((await read())['smtp.pass'], 'hunter2');
  });

  test('all settings can be sent back as they were read', async () => {
    const all = await read();
    const { status, body } = await call('PATCH', 'settings', { body: all });
    assert.equal(status, 200);
    assert.deepEqual(body.data, all);
  });

  test('PATCH with an invalid value or key is 422 with each key, and changes nothing', async () => {
    const beforehand = await read();
    const noticesBefore = notices;
    const { status, body } = await call('PATCH', 'settings', {
      body: { 'theme.accent': '#fff', 'cors.max_age': 'soon', 'smtp.enabled': true, 'no.such': 'x', 'smtp.port': null },
    });
    assert.equal(status, 422);
    assert.equal(body.code, 'validation_failed');
    assert.deepEqual(body.details, {
      'cors.max_age': 'must be a whole number from 0 to 31536000',
      'smtp.enabled': 'must be a string',
      'smtp.port': 'must be a string',
      'no.such': 'is not known here',
    });
    assert.deepEqual(await read(), beforehand);
    assert.equal(notices, noticesBefore);
  });

  test('an empty patch changes nothing, and a body that is not an object is 400', async () => {
    const noticesBefore = notices;
    assert.equal((await call('PATCH', 'settings', { body: {} })).status, 200);
    assert.equal(notices, noticesBefore);
    for (const body of [['smtp.host'], 'smtp.host', 5])
      assert.equal((await call('PATCH', 'settings', { body })).status, 400);
  });

  test('another replica sees the change without the bus when it refreshes', async () => {
    await call('PATCH', 'settings', { body: { 'smtp.host': 'mail.example.com' } });
    await otherReplica.refresh();
    assert.equal(otherReplica.get('smtp.host'), 'mail.example.com');
  });

  test('settings are for admins only; the theme is public', async () => {
    for (const [as, status] of [
      [guest, 401],
      [user, 403],
    ] as const) {
      assert.equal((await call('GET', 'settings', { as })).status, status);
      assert.equal((await call('PATCH', 'settings', { as, body: { 'theme.accent': '#000' } })).status, status);
    }
    await call('PATCH', 'settings', { body: { 'theme.accent': '#123456', 'theme.bg_app': '' } });
    const { status, body } = await call('GET', 'theme', { as: guest });
    assert.equal(status, 200);
    assert.equal(body.data?.accent, '#123456');
    assert.equal(body.data?.bg_app, '#0e0f12');
    assert.deepEqual(Object.keys(body.data ?? {}), [
      'accent',
      'accent_hover',
      'accent_light',
      'bg_app',
      'bg_sidebar',
      'bg_panel',
      'text_primary',
      'text_secondary',
      'success',
      'warning',
      'danger',
    ]);
  });

  test("groups have every setting with its description, and no secret's value", async () => {
    const stored = {
      'smtp.pass': 'a word that is hidden',
      'smtp.port': '2525',
      'oauth2.providers.oidc.acme.enabled': '1',
    };
    await call('PATCH', 'settings', { body: stored });
    const answer = await call('GET', 'settings/groups');
    assert.doesNotMatch(JSON.stringify(answer.body), /a word that is hidden/);
    const groups = answer.body.data as unknown as readonly { settings: readonly Record<string, unknown>[] }[];
    const all = new Map(groups.flatMap(({ settings: list }) => list.map((one) => [one.key, one])));
    const written = settingKeys.filter((key) => !isStateKey(key));
    assert.deepEqual(
      written.filter((key) => !all.has(key)),
      [],
    );
    assert.deepEqual(
      [...all.keys()].filter((key) => isStateKey(String(key))),
      [],
    );
    const { about, takes, ...pass } = all.get('smtp.pass') ?? {};
    assert.deepEqual(pass, { key: 'smtp.pass', default: '', is_secret: true, is_set: true, value: null });
    assert.ok(about && takes);
    assert.deepEqual([all.get('smtp.port')?.value, all.get('smtp.port')?.default], ['2525', '587']);
    assert.equal(all.get('oauth2.providers.oidc.acme.client_secret')?.value, null);
    for (const [as, status] of [
      [guest, 401],
      [user, 403],
    ] as const)
      assert.equal((await call('GET', 'settings/groups', { as })).status, status);
  });

  test('the declarations describe every key for the API document', () => {
    const routes = describeRoutes(
      settingsRoutes({ database, bus: { notify: () => {} }, cipher: createValueCipher('k'), settings }),
    );
    const patch = routes.find(({ method }) => method === 'PATCH')?.body as {
      properties: Record<string, unknown>;
      additionalProperties: boolean;
    };
    assert.deepEqual(Object.keys(patch.properties), [...settingKeys]);
    assert.deepEqual(patch.properties['cors.max_age'], {
      type: 'string',
      description: 'How long a browser may keep a preflight answer, in seconds.',
    });
    assert.equal(patch.additionalProperties, false);
  });
});
