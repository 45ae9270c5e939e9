import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { eventually } from '../harness/eventually.ts';
import { objectAt } from '../harness/json.ts';
import { logLines } from '../harness/processes/logs.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const path = '/api/v1/admin/settings';
const secrets = { 'smtp.pass': 'a password for mails', 'metrics.token': 'a.token.for.metrics' };

test('secret settings with another encryption key [settings §4.3]', async (t) => {
  await using ground = await createGround();
  const start = (key: string) => startStack({ topology: 'one', ground, environment: { SERVICE_ENCRYPTION_KEY: key } });
  {
    await using stack = await start('one passphrase');
    const admin = await stack.admin();
    await admin.patch(path, { ...secrets, 'metrics.enabled': '1', 'smtp.host': 'mail.example' });
    await t.test('are encrypted in the database and decrypted in answers', async () => {
      assert.deepEqual(
        (await stored(ground.databaseUrl)).map(([key, text]) => [key, text.replace(/[\w-]{4,}/g, '…')]),
        [
          ['metrics.token', 'enc:1:…:…'],
          ['smtp.pass', 'enc:1:…:…'],
        ],
      );
      const settings = objectAt((await admin.get(path)).json, 'data');
      for (const [key, text] of Object.entries(secrets)) assert.equal(settings[key], text);
    });
  }
  await using stack = await start('another passphrase');
  const admin = await stack.admin();
  await t.test('read as empty; other settings stay', async () => {
    const settings = objectAt((await admin.get(path)).json, 'data');
    assert.deepEqual(
      [settings['smtp.pass'], settings['metrics.token'], settings['smtp.host'], settings['metrics.enabled']],
      ['', '', 'mail.example', '1'],
    );
  });
  await t.test('are named in warnings', () => {
    const warned = logLines(stack.process.lines).filter(
      ({ level, msg }) => level === 'warn' && /reads as empty/.test(`${msg}`),
    );
    assert.deepEqual([...new Set(warned.map(({ key }) => key))].sort(), ['metrics.token', 'smtp.pass']);
  });
  await t.test('deny access to what they protect [settings §4.3]', async () => {
    for (const Authorization of ['Bearer ', `Bearer ${secrets['metrics.token']}`])
      assert.equal((await stack.guest.send('GET', '/api/v1/metrics', { headers: { Authorization } })).status, 401);
  });
  await t.test('take effect again when they are set again', async () => {
    await admin.patch(path, { 'metrics.token': 'a.new.token' });
    const headers = { Authorization: 'Bearer a.new.token' };
    await eventually(
      'the new token is accepted',
      async () => (await stack.guest.send('GET', '/api/v1/metrics', { headers })).status === 200,
    );
  });
});

/** Returns the secret settings as stored. */
async function stored(databaseUrl: string): Promise<[string, string][]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ key: string; value: string }>(
      'select key, value from system.settings where key = any($1) order by key',
      [Object.keys(secrets)],
    );
    return rows.map(({ key, value }) => [key, value]);
  } finally {
    await client.end();
  }
}
