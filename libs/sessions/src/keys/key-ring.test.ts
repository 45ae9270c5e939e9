import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type Accounts, createAccounts } from '../accounts.ts';
import { newKeyText, readKeyText } from './key-text.ts';

const quiet = createLogger('test', 'silent');

/** The rings hear nothing by the bus. */
const silentBus = { onNotice: () => () => {} };

const home = '192.0.2.7';

describe('service keys on two replicas without a bus', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let replicas: Accounts[] = [];
  let reads = 0;
  let isDown = false;
  const started = new AsyncDisposableStack();
  const run = (text: string, values: readonly unknown[] = []) => database.query({ text, values });

  before(async () => {
    const temporary = await openTemporaryDatabase();
    started.defer(() => temporary.remove());
    database = temporary.database;
    const read: Database['read'] = (statement) => {
      reads += 1;
      if (isDown) return Promise.reject(new Error('the database is down'));
      return database.read(statement);
    };
    replicas = [1, 2].map(() => createAccounts({ database: { ...database, read }, bus: silentBus, log: quiet }));
    for (const replica of replicas) {
      started.defer(() => replica.stop());
      await replica.start();
    }
  });
  after(() => started.disposeAsync());

  async function add({ scopes = ['admin'], cidrs = [] as string[], expiresAt = null as number | null } = {}) {
    const { id, hash, text } = newKeyText();
    await run(
      `insert into system.service_keys (id, name, hash, scopes, allowed_cidrs, expires_at, created_by_type)
       values ($1, 'test', decode($2, 'hex'), $3, $4, $5, 'system')`,
      [id, hash.toString('hex'), scopes, cidrs, expiresAt],
    );
    return { id, text };
  }
  const verdicts = (text: string, address = home) =>
    Promise.all(replicas.map(({ keys }) => keys.verify(text, address)));
  const areAdmitted = async (text: string, address?: string) =>
    (await verdicts(text, address)).map((verdict) => 'principal' in verdict);

  test('a new key works at once on each replica, even right after unknown ones [keys §1.6]', async () => {
    for (let n = 0; n < 3; n += 1) {
      await verdicts(newKeyText().text);
      assert.deepEqual(await areAdmitted((await add()).text), [true, true]);
    }
  });

  test('revoking or changing a key takes effect within a second on each replica [keys §1.6]', async () => {
    const { id, text } = await add({ scopes: ['collections:apply'] });
    assert.deepEqual(await areAdmitted(text), [true, true]);
    await run('update system.service_keys set scopes = $2 where id = $1', [id, ['files']]);
    const scopes = async () =>
      (await verdicts(text)).flatMap((verdict) => ('principal' in verdict ? verdict.principal.scopes : []));
    await eventually(async () => (await scopes()).join() === 'files,files');
    await run('delete from system.service_keys where id = $1', [id]);
    await eventually(async () => !(await areAdmitted(text)).includes(true));
    assert.equal(await replicas[0]?.keys.find(id), undefined);
  });

  test('a key is refused from another network, and after its end [keys §2.3]', async () => {
    const { text } = await add({ cidrs: ['192.0.2.0/29', '2001:db8::/32'] });
    assert.deepEqual(await areAdmitted(text), [true, true]);
    assert.deepEqual(await areAdmitted(text, '2001:db8::9'), [true, true]);
    for (const address of ['192.0.2.8', '2001:db9::1', '', 'nonsense'])
      assert.deepEqual(await areAdmitted(text, address), [false, false], address);
    const ended = await add({ expiresAt: Math.floor(Date.now() / 1000) });
    assert.deepEqual(
      await verdicts(ended.text),
      [1, 2].map(() => ({ refusal: 'expired', id: ended.id })),
    );
  });

  test("scopes have the collections' current names [keys §3.3]", async () => {
    await run(`insert into system.collections (id, name, type, fields, created_at, updated_at)
      values ('c1', 'posts', 'base', '[]', 0, 0)`);
    const { text } = await add({ scopes: ['records:c1:read', 'rules:*', 'records:gone:read'] });
    const scopes = async () => {
      const [verdict] = await verdicts(text);
      return verdict && 'principal' in verdict ? verdict.principal.scopes : [];
    };
    assert.deepEqual(await scopes(), ['records:posts:read', 'rules:*']);
    await run("update system.collections set name = 'articles' where id = 'c1'");
    await eventually(async () => (await scopes())[0] === 'records:articles:read');
    await run("delete from system.collections where id = 'c1'");
    await eventually(async () => (await scopes()).join() === 'rules:*');
  });

  test('unknown keys do not cost a statement each', async () => {
    const before = reads;
    await Promise.all(Array.from({ length: 2000 }, () => replicas[0]?.keys.verify(newKeyText().text, home)));
    assert.ok(reads - before < 30, `${reads - before} statements`);
  });

  test('a known key is checked in memory', async (t) => {
    const { text } = await add({ cidrs: ['192.0.2.0/24'] });
    const [replica] = replicas;
    await replica?.keys.verify(text, home);
    const checks = 20_000;
    const readsBefore = reads;
    const before = process.cpuUsage();
    for (let n = 0; n < checks; n += 1) await replica?.keys.verify(text, home);
    const { user, system } = process.cpuUsage(before);
    t.diagnostic(`${((user + system) / checks).toFixed(1)} µs`);
    assert.ok(reads - readsBefore < 100, `${reads - readsBefore} statements`);
  });

  test('a text that is not a key is refused without a look-up', async () => {
    const { text } = newKeyText();
    assert.ok(readKeyText(text));
    for (const other of [
      '',
      'rbk_',
      `${text}a`,
      text.slice(1),
      text.replace('rbk', 'RBK'),
      `rbk_${'a'.repeat(100_000)}`,
    ])
      assert.equal(readKeyText(other), undefined);
  });

  test('without the database keys are refused with 503 within a second [keys §1.6]', async () => {
    const { text } = await add();
    assert.deepEqual(await areAdmitted(text), [true, true]);
    isDown = true;
    try {
      await eventually(async () => {
        const results = await Promise.allSettled(replicas.map(({ keys }) => keys.verify(text, home)));
        return results.every(({ status }) => status === 'rejected');
      });
    } finally {
      isDown = false;
    }
    await eventually(async () => !(await areAdmitted(text).catch(() => [false])).includes(false));
  });
});
