import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { chooseChallenge, chooseVerifier } from './pkce.ts';

const google = { name: 'google', pkce: 'offered' } as const;
const twitter = { name: 'twitter', pkce: 'always' } as const;
const linkedin = { name: 'linkedin', pkce: 'never' } as const;
const theirs = 'c'.repeat(43);
const startSec = 1_800_000_000;

describe('PKCE', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());

  const where = { collectionId: 'c1', provider: google, redirectUri: 'https://app.example.com/', nowSec: startSec };
  type Where = Parameters<typeof chooseChallenge>[1];
  const challenge = (state: string, more: Partial<Where> = {}, usePkce = true, codeChallenge?: string) =>
    chooseChallenge(database.query, { ...where, ...more }, { state, usePkce, codeChallenge });
  const verifier = (state: string | undefined, more: Partial<Where> = {}, codeVerifier?: string) =>
    chooseVerifier(database.query, { ...where, ...more }, { state, codeVerifier });
  const spent = { status: 401, code: 'invalid_state' };

  test('the verifier has 43 characters, and the challenge is its SHA-256 (RFC 7636 §4)', async () => {
    const sent = await challenge('a');
    const kept = await verifier('a');
    assert.match(kept ?? '', /^[\w-]{43}$/);
    assert.equal(createHash('sha256').update(String(kept)).digest('base64url'), sent);
  });

  test('the verifier lasts exactly ten minutes [oauth §2.4]', async () => {
    await challenge('b');
    await assert.rejects(verifier('b', { nowSec: startSec + 600 }), spent);
    assert.ok(await verifier('b', { nowSec: startSec + 599 }));
    await assert.rejects(verifier('b'), spent);
  });

  test('the verifier belongs to one collection, provider and redirect [oauth §2.4]', async () => {
    await challenge('c');
    await assert.rejects(verifier('c', { provider: twitter }), spent);
    await assert.rejects(verifier('c', { redirectUri: 'https://evil.example.com/' }), spent);
    assert.equal(await verifier('c', { collectionId: 'c2' }), undefined);
    assert.ok(await verifier('c'));
  });

  test('a repeated request gets the same verifier until it is used or expired', async () => {
    const first = await challenge('d');
    assert.equal(await challenge('d', { nowSec: startSec + 599 }), first);
    const second = await challenge('d', { nowSec: startSec + 599 + 600 });
    assert.notEqual(second, first);
    await verifier('d', { nowSec: startSec + 1200 });
    const third = await challenge('d', { nowSec: startSec + 1200 });
    assert.notEqual(third, second);
    assert.notEqual(await challenge('d', { redirectUri: 'https://other.example.com/' }), third);
  });

  test('when many exchange at once, one gets the verifier', async () => {
    await challenge('e');
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => verifier('e')));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  test('the client’s own challenge passes through, and none is added', async () => {
    assert.equal(await challenge('f', {}, false, theirs), theirs);
    assert.equal(await verifier('f', {}, 'v'), 'v');
    assert.equal(await challenge('g', {}, false), undefined);
    assert.equal(await verifier('g'), undefined);
    assert.equal(await verifier(undefined), undefined);
  });

  test('X always has a challenge [oauth §2.4]', async () => {
    assert.match((await challenge('h', { provider: twitter }, false)) ?? '', /^[\w-]{43}$/);
    assert.ok(await verifier('h', { provider: twitter }));
    assert.equal(await challenge('i', { provider: twitter }, false, theirs), theirs);
    assert.equal(await verifier(undefined, { provider: twitter }, 'v'), 'v');
    await assert.rejects(verifier('unheard-of', { provider: twitter }), spent);
    await assert.rejects(verifier(undefined, { provider: twitter }), { status: 400 });
  });

  test('LinkedIn never has a challenge [oauth §2.4]', async () => {
    assert.equal(await challenge('j', { provider: linkedin }), undefined);
    assert.equal(await challenge('j', { provider: linkedin }, false, theirs), undefined);
    assert.equal(await verifier('j', { provider: linkedin }, 'v'), undefined);
  });
});
