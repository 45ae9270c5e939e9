import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { type Bus, connectBus } from '@recordbus/bus';
import { createValueCipher, isCiphertext } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createSettings, patchSettings, type Settings, type SettingsDeps, type SettingsPatch } from './index.ts';

const natsUrl = process.env.TEST_NATS_URL;
const quiet = createLogger('settings test', 'silent');
const fast = { pollIntervalMs: 50 };

suite('settings', { skip: skipWithoutDatabase }, () => {
  let own: OpenTemporaryDatabase;
  let database: Database;
  let noBus: Bus;
  const cipher = createValueCipher('a passphrase');
  const running: Settings[] = [];

  before(async () => {
    own = await openTemporaryDatabase();
    database = own.database;
    // Nothing listens on the discard port, so the bus is down.
    noBus = connectBus({ urls: 'nats://127.0.0.1:9', name: 'settings test', log: quiet });
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((settings) => settings.stop()));
    await database.query({ text: 'delete from system.settings', values: [] });
    await database.query({
      text: "update system.versions set version = version + 1 where name = 'settings'",
      values: [],
    });
  });
  after(async () => {
    await noBus.close();
    await own.remove();
  });

  async function startSettings(deps: Partial<SettingsDeps> = {}): Promise<Settings> {
    const settings = createSettings({ database, bus: noBus, log: quiet, cipher, ...deps });
    await settings.start();
    running.push(settings);
    return settings;
  }
  const patch = (changes: SettingsPatch, deps = { database, bus: noBus, cipher }) => patchSettings(deps, changes);

  async function stored(): Promise<Record<string, string>> {
    const rows = await database.query<{ key: string; value: string }>({
      text: 'select key, value from system.settings',
      values: [],
    });
    return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  }
  async function store(key: string, value: string): Promise<void> {
    await database.query({ text: 'insert into system.settings values ($1, $2, 0)', values: [key, value] });
    await database.query({
      text: "update system.versions set version = version + 1 where name = 'settings'",
      values: [],
    });
  }

  test('with nothing stored every setting has its default', async () => {
    const settings = await startSettings();
    assert.equal(settings.get('cors.max_age') + 1, 601);
    assert.equal(settings.get('rate_limit.enabled'), true);
    assert.deepEqual(settings.get('cors.origins'), []);
    assert.equal(settings.get('notifications.providers.fcm.service_account'), undefined);
    assert.equal(settings.all()['password.min_length'], '12');
    assert.equal(settings.all()['smtp.host'], '');
  });

  test('get throws before the start', () => {
    assert.throws(
      () => createSettings({ database, bus: noBus, log: quiet, cipher }).get('smtp.host'),
      /before they were loaded/,
    );
  });

  test('a patch keeps settings that it does not name, and "" restores the default', async () => {
    const settings = await startSettings();
    await patch({ 'cors.max_age': '10', 'smtp.host': 'mail.example.com' });
    assert.deepEqual(await patch({ 'cors.max_age': '' }), ['cors.max_age']);
    await settings.refresh();
    assert.equal(settings.get('cors.max_age'), 600);
    assert.equal(settings.get('smtp.host'), 'mail.example.com');
    assert.deepEqual(await stored(), { 'smtp.host': 'mail.example.com' });
  });

  test('values below a minimum and lifetimes out of range are shown as they take effect', async () => {
    const settings = await startSettings();
    await patch({
      'password.min_length': '4',
      'auth.lockout.duration_seconds': '5',
      'auth.user.window_seconds': 'soon',
    });
    await settings.refresh();
    assert.equal(settings.get('password.min_length'), 8);
    assert.equal(settings.all()['password.min_length'], '8');
    assert.equal(settings.get('auth.lockout.duration_seconds'), 60);
    assert.equal(settings.get('auth.user.window_seconds'), 604_800);
    assert.equal(settings.all()['auth.user.window_seconds'], '604800');
  });

  test('invalid stored texts and unknown keys have no effect', async () => {
    await store('cors.max_age', 'soon');
    await store('no.such', 'x');
    const { log, logged } = recordingLog();
    const settings = await startSettings({ log });
    assert.equal(settings.get('cors.max_age'), 600);
    assert.equal(settings.all()['cors.max_age'], '600');
    assert.ok(!Object.hasOwn(settings.all(), 'no.such'));
    assert.equal(logged.length, 1);
    assert.deepEqual(logged[0]?.fields, { key: 'cors.max_age' });
  });

  test('a patch that fails halfway changes nothing', async () => {
    await patch({ 'smtp.host': 'old.example.com' });
    // PostgreSQL refuses the character 0. Validated patches have none, so this simulates any failing write.
    await assert.rejects(patch({ 'smtp.port': '25', 'smtp.host': '', 'smtp.user': 'a\0b' }));
    assert.deepEqual(await stored(), { 'smtp.host': 'old.example.com' });
  });

  test('20 parallel patches all take effect, each with its version', async () => {
    const settings = await startSettings();
    const versionOf = async () =>
      (
        await database.query<{ version: number }>({
          text: "select version from system.versions where name = 'settings'",
          values: [],
        })
      )[0]?.version ?? 0;
    const beforehand = await versionOf();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        patch(
          index % 2
            ? { 'smtp.user': `u${index}`, 'smtp.port': String(index + 1) }
            : { 'smtp.port': String(index + 1), 'smtp.user': `u${index}` },
        ),
      ),
    );
    assert.equal(await versionOf(), beforehand + 20);
    await settings.refresh();
    assert.equal(settings.get('smtp.user'), `u${settings.get('smtp.port') - 1}`);
  });

  suite('secrets', () => {
    test('are encrypted in the row and decrypted in memory', async () => {
      const settings = await startSettings();
      await patch({ 'smtp.pass': 'hunter2', 'smtp.user': 'ada' });
      const rows = await stored();
      assert.ok(isCiphertext(rows['smtp.pass'] ?? ''));
      assert.ok(!JSON.stringify(rows).includes('hunter2'));
      assert.equal(rows['smtp.user'], 'ada');
      await settings.refresh();
      assert.equal(settings.get('smtp.pass'), 'hunter2');
      assert.equal(settings.all()['smtp.pass'], 'hunter2');
    });

    test('that were stored before there was a key stay readable', async () => {
      await store('metrics.token', 'plain');
      assert.equal((await startSettings()).get('metrics.token'), 'plain');
    });

    for (const [name, key] of [
      ['a wrong key', 'another'],
      ['no key', undefined],
    ] as const) {
      test(`read as empty with ${name}, which differs from unset, with one warning each`, async () => {
        await patch({ 'metrics.token': 'secret', 'smtp.pass': 'hunter2' });
        const { log, logged } = recordingLog();
        const settings = await startSettings({ cipher: createValueCipher(key), log });
        assert.equal(settings.get('metrics.token'), '');
        assert.equal(settings.all()['smtp.pass'], '');
        assert.ok(settings.isUnreadable('metrics.token'));
        assert.ok(!settings.isUnreadable('oauth2.google.client_secret'));
        await patch({ 'smtp.host': 'a.example' });
        await settings.refresh();
        assert.equal(settings.get('smtp.host'), 'a.example');
        assert.deepEqual(
          logged.map(({ fields }) => fields),
          [{ key: 'smtp.pass' }, { key: 'metrics.token' }],
        );
      });
    }

    test('are stored in plain text without a key, with one warning per key on stderr', async (t) => {
      const written = t.mock.method(process.stderr, 'write', () => true);
      const deps = { database, bus: noBus, cipher: createValueCipher(undefined) };
      await patch({ 'oauth2.slack.client_secret': 'one', 'oauth2.slack.client_id': 'id' }, deps);
      await patch({ 'oauth2.slack.client_secret': 'two' }, deps);
      await patch({ 'oauth2.slack.client_secret': '' }, deps);
      await patch({ 'oauth2.notion.client_secret': 'x' }, deps);
      written.mock.restore();
      const lines = written.mock.calls
        .map(({ arguments: [line] }) => String(line))
        .filter((line) => line.includes('plain text'));
      assert.equal(lines.length, 2);
      assert.match(lines[0] ?? '', /^Warning: SERVICE_ENCRYPTION_KEY is not set.*oauth2\.slack\.client_secret.*\n$/);
      assert.match(lines[1] ?? '', /oauth2\.notion\.client_secret/);
      assert.equal((await stored())['oauth2.notion.client_secret'], 'x');
    });
  });

  suite('two replicas', () => {
    test('follow a change by polling while the bus is down', async () => {
      const one = await startSettings(fast);
      const other = await startSettings(fast);
      const changes: string[][] = [];
      const end = other.onChange((changed) => changes.push([...changed]));
      await patch({ 'cors.origins': 'https://a.example', 'cors.max_age': '600' });
      await eventually(() => one.get('cors.origins').length === 1 && other.get('cors.origins').length === 1);
      assert.deepEqual(changes, [['cors.origins']]);
      end();
      await patch({ 'cors.origins': '' });
      await eventually(() => other.get('cors.origins').length === 0);
      assert.equal(changes.length, 1);
    });

    // Without the notice, the poll would come after the test.
    test('follow a change on a bus notice', {
      skip: natsUrl ? false : 'TEST_NATS_URL is not set',
    }, async (t) => {
      const buses = ['one', 'other'].map((name) => connectBus({ urls: natsUrl ?? '', name, log: quiet }));
      t.after(() => Promise.all(buses.map((bus) => bus.close())));
      await eventually(() => buses.every((bus) => bus.connected));
      const [one, other] = await Promise.all(buses.map((bus) => startSettings({ bus, pollIntervalMs: 600_000 })));
      const [bus] = buses;
      assert.ok(one && other && bus);
      for (const seconds of [1, 2, 3]) {
        await patch({ 'cors.max_age': String(seconds) }, { database, bus, cipher });
        await eventually(() => one.get('cors.max_age') === seconds && other.get('cors.max_age') === seconds);
      }
    });

    test('keep their last copy while the database is down, log it once, and follow changes again afterwards', async () => {
      const { log, logged } = recordingLog();
      await patch({ 'cors.max_age': '1' });
      let isDown = false;
      const read: Database['read'] = (statement) =>
        isDown
          ? database.read({ ...statement, name: 'down', text: 'select pg_terminate_backend(pg_backend_pid())' })
          : database.read(statement);
      const settings = await startSettings({ ...fast, log, database: { ...database, read } });
      isDown = true;
      await eventually(() => logged.length > 0);
      await patch({ 'cors.max_age': '2' });
      await assert.rejects(settings.refresh());
      assert.equal(settings.get('cors.max_age'), 1);
      isDown = false;
      await eventually(() => settings.get('cors.max_age') === 2);
      await eventually(() => logged.length > 1);
      assert.deepEqual(
        logged.map(({ message }) => message),
        ['cannot read the settings; the last copy stays in use', 'can read the settings again'],
      );
    });

    test('a listener that throws does not stop the others', async () => {
      const settings = await startSettings();
      const changedKeys: string[] = [];
      settings.onChange(() => {
        throw new Error('a defect');
      });
      settings.onChange((changed) => changedKeys.push(...changed));
      await patch({ 'theme.accent': '#fff' });
      await settings.refresh();
      assert.deepEqual(changedKeys, ['theme.accent']);
    });

    test('refresh sees changes that were committed before the call, even during another refresh', async () => {
      const settings = await startSettings();
      for (let port = 1; port <= 20; port += 1) {
        const earlier = settings.refresh();
        await patch({ 'smtp.port': String(port) });
        await settings.refresh();
        assert.equal(settings.get('smtp.port'), port);
        await earlier;
      }
    });
  });
});

/** Returns a log that records its info and warning messages. */
function recordingLog() {
  const log = createLogger('settings test', 'silent');
  const logged: { fields: unknown; message: string }[] = [];
  const record = (...[fields, message]: unknown[]) => {
    logged.push(typeof fields === 'string' ? { fields: {}, message: fields } : { fields, message: String(message) });
  };
  return { log: Object.assign(log, { warn: record, info: record }), logged };
}
