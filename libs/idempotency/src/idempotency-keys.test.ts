import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { IdempotencyClaim, IdempotencyStore, KeptReply } from '@recordbus/shared/http';
import { createLogger } from '@recordbus/shared/logging';
import { createIdempotencyKeys } from './idempotency-keys.ts';
import { sweepKeys } from './key-store.ts';

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

  test('one of many parallel claims is the first', async () => {
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
