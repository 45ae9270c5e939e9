import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFileTokens } from './file-token.ts';
import { createTokenSigner, type Session } from './session-token.ts';
import { createTickets } from './ticket.ts';
import { createTokenVerifier } from './token-verifier.ts';

const secret = Buffer.from('a secret for tests, over 32 characters');
let nowMs = 1_800_000_000_000;
const clock = () => nowMs;
const nowSec = nowMs / 1000;
const tickets = createTickets(secret, clock);

const session: Session = {
  principal: { type: 'user', id: 'u1', email: 'a@b', collection: 'people', anonymous: false, impersonatedBy: 'a1' },
  tokenVersion: 3,
  sessionId: 's1',
  expiresAtSec: nowSec + 600,
};

test("a ticket names its session, without the account's address, for 30 s", async () => {
  const { ticket, expiresAtSec } = await tickets.sign(session);
  assert.equal(expiresAtSec, nowSec + 30);
  const read = await tickets.verify(ticket);
  assert.ok(read);
  const { id, ...rest } = read;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, { session: { ...session, principal: { ...session.principal, email: '' } }, expiresAtSec });
  assert.doesNotMatch(Buffer.from(ticket.split('.')[1] ?? '', 'base64url').toString(), /a@b/);
  nowMs += 31_000;
  assert.equal(await tickets.verify(ticket), undefined);
  nowMs -= 31_000;
});

test("an admin's ticket has no collection, and ends with the token", async () => {
  const admin: Session = {
    principal: { type: 'admin', id: 'a1', email: '' },
    tokenVersion: 0,
    sessionId: undefined,
    expiresAtSec: nowSec + 5,
  };
  const { ticket, expiresAtSec } = await tickets.sign(admin);
  assert.equal(expiresAtSec, nowSec + 5);
  assert.deepEqual((await tickets.verify(ticket))?.session, admin);
});

test('other tokens are not accepted as tickets, and tickets are not accepted as other tokens', async () => {
  const { ticket } = await tickets.sign(session);
  const token = await createTokenSigner(secret, clock).signSession({ ...session, windowSec: 60 });
  const file = await createFileTokens(secret, clock).sign({ file: null, minter: null, windowSec: 60 });
  const other = await createTickets(Buffer.from('another secret, also over 32 characters'), clock).sign(session);
  for (const text of [token, file.token, other.ticket, '', 'a.b.c', `${ticket}x`, 'x'.repeat(5000)])
    assert.equal(await tickets.verify(text), undefined);
  assert.equal(await createTokenVerifier(secret, clock).verifySession(ticket), undefined);
  assert.equal(await createFileTokens(secret, clock).verify(ticket), undefined);
});
