import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import type { ServicePrincipal } from '@recordbus/sessions';
import { Connection } from '../connection/connection.ts';
import { createSessionWatch } from './session-watch.ts';

/** Returns the reason with which a key's connection ends when the key is not found any more. */
async function reasonFor(expiresAtSec: number | undefined): Promise<unknown> {
  const watch = createSessionWatch({
    accounts: {
      findPrincipal: () => assert.fail(),
      onRevoked: () => () => {},
      keys: { find: async () => undefined, verify: () => assert.fail(), admits: () => assert.fail() },
    },
    log: createLogger('realtime', 'silent'),
  });
  const expiry = expiresAtSec === undefined ? {} : { expiresAtSec };
  const principal: ServicePrincipal = { type: 'service', id: 'k1', scopes: ['admin'], ...expiry };
  const sent: string[] = [];
  const connection = new Connection({
    context: { principal } as Partial<RequestContext> as RequestContext,
    caller: { headers: {}, query: {} },
    transport: { send: (frame) => void sent.push(frame.text().toString()), sendCursor() {}, unsentBytes: 0, end() {} },
    cursorAt: String,
    onEnd() {},
  });
  await watch.check(connection);
  assert.equal(sent.length, 1);
  return JSON.parse(sent[0] ?? '').data.reason;
}

test('when a key ends, the message says whether it expired or was revoked [realtime §5.1]', async () => {
  const nowSec = Math.floor(Date.now() / 1000);
  assert.equal(await reasonFor(nowSec - 1), 'token_expired');
  assert.equal(await reasonFor(nowSec + 3600), 'session_ended');
  assert.equal(await reasonFor(undefined), 'session_ended');
});
