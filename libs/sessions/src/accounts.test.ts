import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import type { Session } from '@recordbus/tokens';
import { type Accounts, createAccounts } from './accounts.ts';
import { createRevocationFeed, type RevokedSubjects } from './revocation-feed.ts';
import { sessionOf as sessionOfPrincipal } from './session-of.ts';

const quiet = createLogger('test', 'silent');

const silentBus = { onNotice: () => () => {} };

describe("tokens' accounts", { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let accounts: Accounts;
  const started = new AsyncDisposableStack();
  const run = (text: string, values: readonly unknown[] = []) => database.query({ text, values });

  before(async () => {
    const temporary = await openTemporaryDatabase();
    started.defer(() => temporary.remove());
    database = temporary.database;
    await run(`create table records.people (id text primary key, email text, token_version integer not null default 0,
      is_anonymous boolean not null default false, verified boolean)`);
    await run('create table records.things (id text primary key)');
    accounts = createAccounts({ database, bus: silentBus, log: quiet });
    started.defer(() => accounts.stop());
    await accounts.start();
  });
  after(() => started.disposeAsync());

  const sessionOf = (id: string, more: Partial<Session> = {}, collection = 'people'): Session => ({
    principal: { type: 'user', id, email: 'as@signed', collection, anonymous: false, impersonatedBy: null },
    tokenVersion: 0,
    expiresAtSec: 1_900_000_000,
    ...more,
  });
  const add = (id: string) => run('insert into records.people (id, email) values ($1, $2)', [id, `${id}@now`]);
  const revoke = (subject: string) => run('insert into system.revocations (subject) values ($1)', [subject]);
  const addSession = (id: string, account: string) =>
    run(
      `insert into system.sessions (id, account_id, created_at, last_used_at, expires_at) values ($1, $2, 0, 0, 1900000000)`,
      [id, account],
    );

  test("the principal comes from the account's row, not from the token", async () => {
    await add('u1');
    assert.deepEqual(await accounts.findPrincipal(sessionOf('u1')), {
      ...sessionOf('u1').principal,
      email: 'u1@now',
      verified: false,
      factors: [],
      signedInAtSec: null,
      sessionId: undefined,
      tokenVersion: 0,
      expiresAtSec: 1_900_000_000,
    });
  });

  test('a token without an account, with another version, or without its session has no principal', async () => {
    await add('u2');
    await addSession('s2', 'u2');
    await addSession('s1', 'u1');
    assert.ok(await accounts.findPrincipal(sessionOf('u2', { sessionId: 's2' })));
    const invalid = [
      sessionOf('nobody'),
      sessionOf('u2', { tokenVersion: 1 }),
      sessionOf('u2', { sessionId: 'gone' }),
      sessionOf('u2', { sessionId: 's1' }),
      sessionOf('u2', {}, 'nowhere'),
      sessionOf('u2', {}, 'things'),
      sessionOf('u2', {}, 'people"'),
      { ...sessionOf('u2'), principal: { type: 'admin', id: 'u2', email: '' } as const },
    ];
    for (const session of invalid) assert.equal(await accounts.findPrincipal(session), undefined);
  });

  test('an account is cached until shortly after its revocation', async () => {
    await add('u3');
    await addSession('s3', 'u3');
    const session = sessionOf('u3', { sessionId: 's3' });
    assert.ok(await accounts.findPrincipal(session));
    await run("delete from system.sessions where id = 's3'");
    assert.ok(await accounts.findPrincipal(session), 'the session is not revoked yet');
    await revoke('s3');
    await eventually(async () => (await accounts.findPrincipal(session)) === undefined);
  });

  test('a lookup after a notice sees the change at once', async () => {
    let notify = () => {};
    const bus = {
      onNotice(_topic: string, listener: () => void) {
        notify = listener;
        return () => {};
      },
    };
    const noticed = createAccounts({ database, bus, log: quiet });
    await noticed.start();
    try {
      await add('u5');
      for (const verified of [true, false, true]) {
        await noticed.findPrincipal(sessionOf('u5'));
        await run("update records.people set verified = $1 where id = 'u5'", [verified]);
        await revoke('u5');
        notify();
        assert.deepEqual(await noticed.findPrincipal(sessionOf('u5')), {
          ...sessionOf('u5').principal,
          email: 'u5@now',
          verified,
          factors: [],
          signedInAtSec: null,
          sessionId: undefined,
          tokenVersion: 0,
          expiresAtSec: 1_900_000_000,
        });
      }
    } finally {
      await noticed.stop();
    }
  });

  test('revoking * covers every account', async () => {
    await add('u4');
    assert.ok(await accounts.findPrincipal(sessionOf('u4')));
    await run("delete from records.people where id = 'u4'");
    await revoke('*');
    await eventually(async () => (await accounts.findPrincipal(sessionOf('u4'))) === undefined);
  });

  test('a revocation that commits after later ones is seen too', async () => {
    const feed = createRevocationFeed({ database, bus: silentBus, log: quiet });
    await feed.start();
    const mark = feed.mark();
    let commit = () => {};
    const isHeld = new Promise<void>((resolve) => (commit = resolve));
    let hasWritten = () => {};
    const written = new Promise<void>((resolve) => (hasWritten = resolve));
    const slow = database.transaction(async (query) => {
      await query({ text: "insert into system.revocations (subject) values ('slow')", values: [] });
      hasWritten();
      await isHeld;
    });
    await written;
    await revoke('quick');
    await feed.refresh();
    assert.deepEqual(
      ['quick', 'slow'].map((subject) => feed.revokedSince(mark, subject, undefined)),
      [true, false],
    );
    commit();
    await slow;
    await feed.refresh();
    assert.equal(feed.revokedSince(mark, 'slow', undefined), true);
    assert.equal(feed.revokedSince(mark, 'other', 'slow'), true);
    assert.equal(feed.revokedSince(feed.mark(), 'slow', undefined), false);
    await feed.stop();
  });

  test('a listener learns which accounts and sessions were revoked, until it is removed', async () => {
    const seen: RevokedSubjects[] = [];
    const end = accounts.onRevoked((subjects) => seen.push(subjects));
    const endFailing = accounts.onRevoked(() => {
      throw new Error('a defect of a listener');
    });
    await revoke('u8');
    await eventually(() => seen.some((subjects) => subjects !== 'all' && subjects.has('u8')));
    await revoke('*');
    await eventually(() => seen.includes('all'));
    end();
    endFailing();
    const count = seen.length;
    const session = sessionOf('u8');
    await add('u8');
    assert.ok(await accounts.findPrincipal(session));
    await revoke('u8');
    await run("delete from records.people where id = 'u8'");
    await eventually(async () => (await accounts.findPrincipal(session)) === undefined);
    assert.equal(seen.length, count);
  });

  test("a principal's session finds it again, and ends as the token's session does", async () => {
    await add('u9');
    await addSession('s9', 'u9');
    const principal = await accounts.findPrincipal(sessionOf('u9', { sessionId: 's9' }));
    assert.ok(principal);
    const session = sessionOfPrincipal(principal);
    assert.ok(session);
    assert.deepEqual(await accounts.findPrincipal(session), principal);
    await run("update records.people set token_version = 1 where id = 'u9'");
    await revoke('u9');
    await eventually(async () => (await accounts.findPrincipal(session)) === undefined);
    assert.equal(sessionOfPrincipal({ type: 'guest', rejectedToken: false }), undefined);
  });
});
