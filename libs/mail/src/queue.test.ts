import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Database } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { Principal } from '@recordbus/request/context';
import { inRequest } from '@recordbus/request/request-scope';
import { enqueueMail } from './enqueue-mail.ts';
import { claimMail } from './queue.ts';

const about = { collectionId: 'c', recordId: 'r' };
const guest: Principal = { type: 'guest', rejectedToken: false };
const admin: Principal = { type: 'admin', id: 'a', email: '' };

describe('the mail queue', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let query: Database['query'];
  before(async () => {
    temporary = await openTemporaryDatabase();
    ({ query } = temporary.database);
  });
  after(() => temporary?.remove());

  const enqueue = (to: string, clientAddress: string, principal: Principal = guest) =>
    inRequest({ requestId: '', traceparent: '', principal, clientAddress }, () =>
      enqueueMail(query, { template: 'reset', to, collection: 'users', about, token: 't', usefulForSec: 600 }),
    );

  it("sends clients' mails in turn, and admins' first [mail §3.2]", async () => {
    for (const n of [1, 2, 3]) await enqueue(`flood-${n}@example.com`, '10.0.0.1');
    const user: Principal = {
      type: 'user',
      id: 'u',
      email: '',
      collection: 'c',
      anonymous: false,
      impersonatedBy: null,
    };
    for (const n of [1, 2]) await enqueue(`travel-${n}@example.com`, `10.0.1.${n}`, user);
    await enqueue('alone@example.com', '10.0.0.2');
    await enqueue('admin@example.com', '10.0.0.1', admin);
    const recipients: string[] = [];
    for (let left = 7; left > 0; left -= 1)
      for (const { recipient } of await claimMail(query, 1, 60)) recipients.push(recipient.split('@')[0] ?? '');
    assert.deepEqual(recipients, ['admin', 'flood-1', 'travel-1', 'alone', 'flood-2', 'travel-2', 'flood-3']);
  });
});
