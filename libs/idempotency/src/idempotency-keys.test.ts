import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { IdempotencyClaim, IdempotencyStore, KeptReply } from '@recordbus/http';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createIdempotencyKeys } from './idempotency-keys.ts';
import { forgetLargeAnswers, sweepKeys } from './key-store.ts';

const log = createLogger('test', 'silent');
const secret = randomBytes(32);
const reply: KeptReply = { status: 201, headers: { ETag: 'W/"1"' }, json: '{"data":{"token":"t0k3n"}}' };
const digest = randomBytes(32);

suite('idempotency keys', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let keys: IdempotencyStore;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    keys = createIdempotencyKeys({ database, log, secret });
  });
  after(async () => {
    await temporary.remove();
  });

  async function first(identity: string, store = keys): Promise<Extract<IdempotencyClaim, { outcome: 'first' }>> {
    const claim = await store.claim(identity);
    assert.equal(claim.outcome, 'first');
    if (claim.outcome !== 'first') throw new Error('not first');
    return claim;
  }
  const outcomeOf = async (identity: string, store = keys) => (await store.claim(identity)).outcome;
  const run = (text: string) => database.query({ text, values: [] });

  test('the first claim holds the key, and the others first see that it runs and then get its answer', async () => {
    const claim = await first('a');
    assert.equal(await outcomeOf('a'), 'running');
    await claim.keep(reply, digest);
    const again = await keys.claim('a');
    assert.ok(again.outcome === 'answered');
    assert.deepEqual(again.replyTo(digest), reply);
    assert.equal(again.replyTo(randomBytes(32)), undefined);
  });

  test('a released key is new', async () => {
    await (await first('b')).release();
    await (await first('b')).release();
  });

  test('when many claim at once, one is the first', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, () => keys.claim('c')));
    const outcomes = claims.map(({ outcome }) => outcome).sort();
    assert.deepEqual(outcomes, ['first', ...Array.from({ length: 19 }, () => 'running')]);
    for (const claim of claims) if (claim.outcome === 'first') await claim.release();
  });

  test('a holder whose lease expires is replaced, and its late answer is not stored', async () => {
    const dead = await first('d');
    await run("update system.idempotency_keys set lease_until = now() - interval '1 second'");
    const successor = await first('d');
    await dead.keep({ ...reply, json: 'late' }, digest);
    await dead.release();
    assert.equal(await outcomeOf('d'), 'running');
    await successor.keep(reply, digest);
    const again = await keys.claim('d');
    assert.deepEqual(again.outcome === 'answered' && again.replyTo(digest), reply);
  });

  test('an answer expires and is swept', async () => {
    await (await first('e')).keep(reply, digest);
    await run("update system.idempotency_keys set expires_at = now() - interval '1 second'");
    await (await first('e')).keep(reply, digest);
    await run("update system.idempotency_keys set expires_at = now() - interval '1 second'");
    const [row] = await database.query<{ count: number }>({
      text: 'select count(*) as count from system.idempotency_keys',
      values: [],
    });
    assert.equal(await sweepKeys(database.query, 1000), row?.count);
  });

  test('expired keys are removed, however many they are [http §7.2]', async () => {
    const count = async () => (await run('select from system.idempotency_keys where expires_at <= now()')).length;
    await run(`insert into system.idempotency_keys (id, token, lease_until, expires_at)
      select decode(md5(n::text), 'hex'), gen_random_uuid(), now(), now() - interval '1 hour'
      from generate_series(1, 2500) n`);
    assert.equal(await count(), 2500);
    const store = createIdempotencyKeys({ database, log, secret, removeEveryMs: 0 });
    await (await first('g', store)).release();
    await eventually(async () => (await count()) === 0);
  });

  test('the oldest large answers are forgotten, and their keys stay used [http §7.6]', async () => {
    const large = { ...reply, json: JSON.stringify({ data: 'x'.repeat(20_000) }) };
    for (const name of ['old', 'new'])
      for (const kept of [reply, large]) await (await first(`${name} ${kept.json.length}`)).keep(kept, digest);
    const answered = async (identity: string, of = digest) => {
      const claim = await keys.claim(identity);
      return claim.outcome === 'answered' && claim.replyTo(of);
    };
    assert.equal(await forgetLargeAnswers(database.query, 45_000), 0);
    assert.equal(await forgetLargeAnswers(database.query, 35_000), 1);
    assert.equal(await answered(`old ${large.json.length}`), 'forgotten');
    assert.equal(await answered(`old ${large.json.length}`, randomBytes(32)), undefined);
    assert.deepEqual(await answered(`new ${large.json.length}`), large);
    for (const name of ['old', 'new']) assert.deepEqual(await answered(`${name} ${reply.json.length}`), reply);
  });

  test('the table reveals neither caller nor answer, and no key can be found with another secret', async () => {
    await (await first('f')).keep(reply, digest);
    const rows = await database.query<{ text: string }>({
      text: 'select encode(id || fingerprint || answer, $1) as text from system.idempotency_keys where answer is not null',
      values: ['escape'],
    });
    assert.ok(rows.length > 0);
    for (const { text } of rows) assert.doesNotMatch(text, /t0k3n|token|ETag/);
    await (await first('f', createIdempotencyKeys({ database, log, secret: randomBytes(32) }))).release();
  });
});
