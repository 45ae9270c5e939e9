import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { User } from '@recordbus/accounts';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { testCollection } from '@recordbus/schema/testing';
import { readLink } from '../identity/make-link.ts';
import { readPendingProfile } from '../identity/provider-profile.ts';
import { findOneTimeToken } from '../one-time/one-time-tokens.ts';
import { requireMerge } from './merge.ts';

const startSec = 1_800_000_000;
const members = testCollection('members', [], { id: 'c1', type: 'auth' });
const ann: User = {
  id: 'u1',
  email: 'Ann@example.com',
  verified: true,
  passwordHash: null,
  tokenVersion: 0,
  isAnonymous: false,
  totpEnabled: false,
  record: {},
};
const link = { provider: 'google', issuer: 'https://accounts.example.com', providerUserId: '1' } as const;
const profile = {
  provider: 'google',
  id: '1',
  email: 'ann@example.com',
  email_verified: true,
  name: 'Ann',
  username: null,
  avatar_url: null,
};
const identity = { ...link, verifiedEmail: 'ann@example.com', profile };

describe('a merge token', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  after(() => temporary.remove());

  const require = () => requireMerge(database.query, { nowSec: () => startSec }, members, ann, identity);
  const find = (token: string, afterSec = 0, collectionId = members.id) =>
    findOneTimeToken(database.query, { purpose: 'merge', collectionId, token, nowSec: startSec + afterSec });

  test('carries its link and the profile', async () => {
    const { merge_token, ...shown } = await require();
    assert.deepEqual(shown, { merge_required: true, email: 'Ann@example.com', provider: 'google' });
    const found = await find(merge_token);
    assert.equal(found?.accountId, ann.id);
    assert.deepEqual(readLink(found?.data ?? {}), link);
    assert.deepEqual(readPendingProfile(found?.data ?? {}), { profile });
  });

  test('lasts 15 minutes and belongs to its collection [oauth §5.1]', async () => {
    const { merge_token } = await require();
    assert.ok(await find(merge_token, 899));
    assert.equal(await find(merge_token, 900), undefined);
    assert.equal(await find(merge_token, 0, 'c2'), undefined);
  });

  test('does not replace an earlier one, for two browser tabs [oauth §5.1]', async () => {
    const first = await require();
    const second = await require();
    assert.ok(await find(first.merge_token));
    assert.ok(await find(second.merge_token));
  });
});
