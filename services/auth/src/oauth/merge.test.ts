import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { User } from '@recordbus/accounts';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { Collection } from '@recordbus/schema';
import { findOneTimeToken } from '../one-time/one-time-tokens.ts';
import { readLink } from './make-link.ts';
import { requireMerge } from './merge.ts';

const startSec = 1_800_000_000;
const members: Collection = {
  id: 'c1',
  name: 'members',
  type: 'auth',
  fields: [],
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
};
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
const identity = { provider: 'google', providerUserId: '1', verifiedEmail: 'ann@example.com' } as const;

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

  test('carries the link that it is for', async () => {
    const { merge_token, ...shown } = await require();
    assert.deepEqual(shown, { merge_required: true, email: 'Ann@example.com', provider: 'google' });
    const found = await find(merge_token);
    assert.equal(found?.accountId, ann.id);
    assert.deepEqual(readLink(found?.data ?? {}), { provider: 'google', providerUserId: '1' });
  });

  test('is good for 15 minutes in its collection (interface §3.4)', async () => {
    const { merge_token } = await require();
    assert.ok(await find(merge_token, 899));
    assert.equal(await find(merge_token, 900), undefined);
    assert.equal(await find(merge_token, 0, 'c2'), undefined);
  });

  test('takes the place of the one before', async () => {
    const first = await require();
    const second = await require();
    assert.equal(await find(first.merge_token), undefined);
    assert.ok(await find(second.merge_token));
  });
});
