import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { createSettings, patchSettings, type SettingsPatch } from '@recordbus/settings';
import { eventually } from '@recordbus/testing';
import { createUpdateChecker } from './update-checker.ts';

const nowMs = 1_900_000_000_000;
const cipher = createValueCipher(undefined);
const log = createLogger('test', 'silent');
const bus = { notify: () => {}, onNotice: () => () => {} };

describe('the update checker', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(async () => {
    await temporary.remove();
  });

  /** Runs a release host that the test controls, and replicas that call it every `everyMs`, with their settings. */
  async function run(
    { answer, everyMs = 50, replicas = 1 }: { answer: RequestListener; everyMs?: number; replicas?: number },
    work: (parts: {
      requests: () => number;
      kept(): Promise<string[]>;
      change(patch: SettingsPatch): Promise<void>;
    }) => Promise<void>,
  ): Promise<void> {
    let requests = 0;
    const host = createServer((request, response) => {
      requests += 1;
      answer(request, response);
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    const { port } = host.address() as AddressInfo;
    const all = Array.from({ length: replicas }, () =>
      createSettings({ database, bus, log, cipher, pollIntervalMs: 20 }),
    );
    const deps = { database, bus, cipher, log, clock: () => nowMs, releaseUrl: `http://127.0.0.1:${port}/latest` };
    const timing = { firstMs: 30, everyMs, leaseMs: 1000 };
    await Promise.all(all.map((settings) => settings.start()));
    const checkers = all.map((settings) => createUpdateChecker({ ...deps, settings, timing }));
    const [settings] = all;
    assert.ok(settings);
    for (const checker of checkers) checker.start();
    try {
      await work({
        requests: () => requests,
        async kept() {
          await settings.refresh();
          const texts = settings.all();
          return [texts['update_check.latest_version'], texts['update_check.checked_at'], texts['update_check.error']];
        },
        async change(patch) {
          await patchSettings(deps, patch);
        },
      });
    } finally {
      await Promise.all(checkers.map((checker) => checker.stop()));
      await Promise.all(all.map((one) => one.stop()));
      await patchSettings(deps, {
        'update_check.enabled': '',
        'update_check.latest_version': '',
        'update_check.checked_at': '',
        'update_check.error': '',
      });
      host.closeAllConnections();
      await new Promise((resolve) => host.close(resolve));
    }
  }

  const release =
    (tag: string): RequestListener =>
    (_, response) =>
      response.end(JSON.stringify({ tag_name: tag, name: 'The one', assets: [] }));

  test("keeps the latest release's tag and when it was checked", () =>
    run({ answer: release('v1.2.3') }, async ({ kept, requests }) => {
      await eventually(async () => (await kept())[0] === 'v1.2.3');
      assert.deepEqual(await kept(), ['v1.2.3', '1900000000', '']);
      await eventually(() => requests() >= 3);
    }));

  const huge = `"${'x'.repeat(300_000)}"`;
  for (const [name, answer, error] of [
    [
      'an answer that is not a success',
      (_, response) => response.writeHead(500).end(),
      'the release host answered 500',
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
      'the release host answered 302',
    ],
    [
      'an answer that is not JSON',
      (_, response) => response.end('<html>'),
      'the release host did not answer JSON with a tag_name',
    ],
    [
      'a missing tag',
      (_, response) => response.end('{"tag_name":5}'),
      'the release host did not answer JSON with a tag_name',
    ],
    ['a tag of several lines', release('v1\nv2'), 'the release host did not answer JSON with a tag_name'],
    ['an endless answer', (_, response) => response.end(huge), 'the release host answered more than 262144 bytes'],
  ] satisfies [string, RequestListener, string][])
    test(`keeps only the error: ${name}`, () =>
      run({ answer }, async ({ kept }) => {
        await eventually(async () => (await kept())[2] !== '');
        assert.deepEqual(await kept(), ['', '', error]);
      }));

  test('keeps the last known version after an error, and clears the error at the next success', async () => {
    let isBroken = false;
    const answer: RequestListener = (request, response) => {
      if (isBroken) request.socket.destroy();
      else release('v2.0.0')(request, response);
    };
    await run({ answer }, async ({ kept }) => {
      await eventually(async () => (await kept())[0] === 'v2.0.0');
      isBroken = true;
      await eventually(async () => (await kept())[2] !== '');
      assert.deepEqual((await kept()).slice(0, 2), ['v2.0.0', '1900000000']);
      isBroken = false;
      await eventually(async () => (await kept())[2] === '');
    });
  });

  test('among several replicas, only one checks', () =>
    run({ answer: release('v3.0.0'), everyMs: 3_600_000, replicas: 3 }, async ({ kept, requests }) => {
      await eventually(async () => (await kept())[0] === 'v3.0.0');
      const [{ holders } = { holders: 0 }] = await database.query<{ holders: number }>({
        text: `select count(*) as holders from system.leases where name = 'update check'`,
        values: [],
      });
      assert.equal(holders, 1);
      assert.equal(requests(), 1);
    }));

  test('does not check while it is disabled, and checks immediately when it is enabled', async () => {
    await patchSettings({ database, bus, cipher }, { 'update_check.enabled': '0' });
    await run({ answer: release('v4.0.0') }, async ({ kept, requests, change }) => {
      await eventually(async () => {
        const rows = await database.query({
          text: `select from system.leases where name = 'update check'`,
          values: [],
        });
        return rows.length > 0;
      });
      assert.equal(requests(), 0);
      await change({ 'update_check.enabled': '1' });
      await eventually(async () => (await kept())[0] === 'v4.0.0');
    });
  });
});
