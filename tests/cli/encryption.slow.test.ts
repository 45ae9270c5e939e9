import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { type Client, createClient } from '../harness/clients/client.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { type CliResult, runCli } from '../harness/processes/cli.ts';
import { stopCli } from '../harness/processes/stop-cli.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { createKeylessGround } from '../harness/stacks/keyless-ground.ts';
import { environmentOf, startStack } from '../harness/stacks/stack.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/auth/staff';

suite('encryption rotate on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createKeylessGround());
  const database = new pg.Client({ connectionString: ground.databaseUrl });
  await database.connect();
  tidying.defer(() => database.end());
  const environment = environmentOf(ground);
  const rotate = (more: Record<string, string>, ...flags: string[]) =>
    runCli(['encryption', 'rotate', '--json', ...flags], { environment: { ...environment, ...more } });
  const storedBy = async (text: string): Promise<string> => (await database.query(text)).rows[0]?.value;
  const setting = "select value from system.settings where key = 'metrics.token'";
  const appSecret = 'select totp_secret as value from records.staff';
  const note = 'select text as value from records.notes';
  const version = "select snapshot->>'copied' as value from history_of_staff";

  let secret = '';
  let whileRunning: CliResult | undefined;
  {
    // Without a key, everything is stored in plain text.
    await using stack = await startStack({ topology: 'one', ground });
    const admin = await stack.admin();
    await admin.patch('/api/v1/admin/settings', { 'metrics.token': 'in-plain-text' });
    await admin.post('/api/v1/collections', { name: 'staff', type: 'auth', fields: [], history_enabled: true });
    const fields = [
      { name: 'text', type: 'text', options: { encrypted: true } },
      { name: 'data', type: 'json', options: { encrypted: true } },
    ];
    await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields, history_enabled: true });
    await admin.create('notes', { text: 'hush', data: { a: ['ü'] } });
    const registered = await stack.guest.post(`${path}/register`, { email: 'ann@example.com', password });
    const ann = createClient(stack.url, textAt(registered, 'token'));
    secret = textAt(await ann.post(`${path}/totp/setup`, undefined, 200), 'secret');
    await ann.post(`${path}/totp/confirm`, { code: totpCode(secret) }, 200);

    whileRunning = await rotate({ SERVICE_NEW_ENCRYPTION_KEY: 'one' });
  }

  await test('encryption rotate is refused while services run', () => {
    assert.equal(whileRunning?.code, 1);
    assert.match(whileRunning?.stderr ?? '', /Services are running on this database \(local\)/);
  });

  await test('a first key encrypts values that are stored in plain text', async () => {
    assert.equal(await storedBy(setting), 'in-plain-text');
    const done = await rotate({ SERVICE_NEW_ENCRYPTION_KEY: 'one' });
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(done.json, {
      encrypted: 6,
      unreadable: 0,
      // Each field in a note also counts in its history.
      places: {
        'system.settings.value': 1,
        'records.staff.totp_secret': 1,
        'records.notes.text': 2,
        'records.notes.data': 2,
      },
    });
    for (const text of [setting, appSecret, note]) assert.match(await storedBy(text), /^enc:1:/);
  });

  await test('doctor names columns with values that the key does not decrypt', async () => {
    const decryptionFindings = async (more: Record<string, string>) => {
      const { json, code } = await runCli(['doctor', '--json'], { environment: { ...environment, ...more } });
      const found = listAt(json, 'findings').filter(({ subject }) => subject === 'encrypted values');
      return [code, ...found.flatMap(({ verdict, says }) => [verdict, String(says)])];
    };
    const [right, wrong, none] = await Promise.all([
      decryptionFindings({ SERVICE_ENCRYPTION_KEY: 'one' }),
      decryptionFindings({ SERVICE_ENCRYPTION_KEY: 'two' }),
      decryptionFindings({}),
    ]);
    assert.deepEqual(right.slice(1, 2), ['ok'], String(right));
    for (const found of [wrong, none]) {
      assert.deepEqual(found.slice(0, 2), [1, 'broken'], String(found));
      assert.match(String(found[2]), /records\.notes\.text \(1\), records\.notes\.data \(1\)/);
      assert.match(String(found[2]), /records\.staff\.totp_secret \(1\)/);
      assert.match(String(found[2]), /history\./);
      assert.doesNotMatch(String(found), /in-plain-text|hush/);
    }
  });

  await test('a new key re-encrypts all values or none, even values within JSON such as history', async () => {
    await database.query(`do $$ begin execute (
      select format('create temp view history_of_staff as select * from history.%I', id) from system.collections where name = 'staff'
    ); end $$`);
    await database.query(`update history_of_staff set snapshot = jsonb_build_object('copied', (${setting}), 'n', 1)`);
    const before = [await storedBy(setting), await storedBy(appSecret), await storedBy(version)];

    const wrongKey = await rotate({ SERVICE_ENCRYPTION_KEY: 'none of these', SERVICE_NEW_ENCRYPTION_KEY: 'two' });
    assert.equal(wrongKey.code, 1);
    assert.match(wrongKey.stderr, /1 in system\.settings\.value/);
    const sameKey = await rotate({ SERVICE_ENCRYPTION_KEY: 'one', SERVICE_NEW_ENCRYPTION_KEY: 'one' });
    assert.equal(sameKey.code, 1);
    const noKey = await rotate({ SERVICE_ENCRYPTION_KEY: 'one' });
    assert.match(noKey.stderr, /--key-stdin/);
    assert.deepEqual([await storedBy(setting), await storedBy(appSecret), await storedBy(version)], before);

    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGKILL', null],
    ] as const) {
      const stopped = await stopCli(['encryption', 'rotate'], {
        signal,
        databaseUrl: ground.databaseUrl,
        // This table comes last, when the others are encrypted already.
        table: 'system.webhooks',
        environment: { ...environment, SERVICE_ENCRYPTION_KEY: 'one', SERVICE_NEW_ENCRYPTION_KEY: 'two' },
      });
      assert.deepEqual(stopped, [code, code ? 'SIGINT stopped encryption rotate before it was done.' : '']);
      assert.deepEqual([await storedBy(setting), await storedBy(appSecret), await storedBy(version)], before);
    }

    const done = await runCli(['encryption', 'rotate', '--key-stdin'], {
      environment: { ...environment, SERVICE_ENCRYPTION_KEY: 'one' },
      input: 'two\n',
    });
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /Encrypted 7 values/);
    const now = [await storedBy(setting), await storedBy(appSecret), await storedBy(version)];
    for (const [index, value] of now.entries()) {
      assert.match(value, /^enc:1:/);
      assert.notEqual(value, before[index]);
    }
    assert.equal(await storedBy(`select snapshot->>'n' as value from history_of_staff`), '1');
  });

  await test('a second run finds nothing to do', async () => {
    const again = await rotate({ SERVICE_ENCRYPTION_KEY: 'one', SERVICE_NEW_ENCRYPTION_KEY: 'two' });
    assert.deepEqual(again.json, { encrypted: 0, unreadable: 0, places: {} });
  });

  await test('the services read everything with the new key', async () => {
    await using stack = await startStack({ topology: 'one', ground, environment: { SERVICE_ENCRYPTION_KEY: 'two' } });
    const admin: Client = await stack.admin();
    const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
    assert.equal(settings['metrics.token'], 'in-plain-text');
    const [shown] = listAt((await admin.get('/api/v1/notes')).json, 'data');
    assert.deepEqual([shown?.text, shown?.data], ['hush', { a: ['ü'] }]);
    const history = await admin.get(`/api/v1/notes/${shown?.id}/history`);
    assert.equal(textAt(history.json, 'data.data.0.snapshot.text'), 'hush');
    const login = await stack.guest.post(`${path}/login`, { email: 'ann@example.com', password }, 200);
    const code = totpCode(secret, 1);
    const session = await stack.guest.post(`${path}/login/mfa`, { mfa_token: textAt(login, 'mfa_token'), code }, 200);
    assert.ok(textAt(session, 'token'));
  });
});
