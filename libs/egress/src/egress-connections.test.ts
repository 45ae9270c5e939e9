import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEgressClient } from './egress-client.ts';
import { EgressBlockedError } from './egress-error.ts';
import { createGate, denyAll, good, plain, rules, startClient } from './test-client.ts';
import { startReceiver, until } from './test-receiver.ts';

describe('connections', () => {
  test('one socket serves many requests with one lookup', async (t) => {
    let lookups = 0;
    const receiver = await startReceiver(t, (_req, res) => res.end('ok'));
    const client = startClient(t, {
      lookup: async () => {
        lookups++;
        return [good];
      },
      maxSocketsPerOrigin: 1,
    });
    for (let i = 0; i < 20; i++) await client.request(`http://warm.test:${receiver.port}/`, plain);
    assert.equal(receiver.sockets.length, 1);
    assert.equal(lookups, 1);
  });

  test('an origin gets no more sockets than the limit', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => void setImmediate(() => res.end()));
    const client = startClient(t, { maxSocketsPerOrigin: 3 });
    await Promise.all(Array.from({ length: 50 }, () => client.request(receiver.url, plain)));
    assert.ok(receiver.sockets.length <= 3, `${receiver.sockets.length} sockets`);
  });

  test('a socket past its lifetime gets no new request', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t, { socketLifetimeMs: 60_000, maxSocketsPerOrigin: 1 });
    await client.request(receiver.url, plain);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_001 });
    await client.request(receiver.url, plain);
    assert.equal(receiver.sockets.length, 2);
  });

  test('reset() closes the kept-alive sockets', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t);
    await client.request(receiver.url, plain);
    assert.equal(receiver.openSockets(), 1);
    client.reset();
    // Earlier than the 4 s after which an idle socket closes by itself.
    await until('the kept-alive socket is closed', () => receiver.openSockets() === 0, 2_000);
    await client.request(receiver.url, plain);
    assert.equal(receiver.sockets.length, 2);
  });

  test('after reset() sent requests finish, and waiting requests are checked by the new rules', async (t) => {
    const gate = createGate();
    const requested: (string | undefined)[] = [];
    const receiver = await startReceiver(t, async (req, res) => {
      requested.push(req.url);
      await gate.opened;
      res.end();
    });
    let current = rules;
    const client = startClient(t, { rules: () => current, maxSocketsPerOrigin: 1 });
    const sent = client.request(`${receiver.url}/sent`, plain);
    const waiting = client.request(`${receiver.url}/waiting`, plain);
    await until('the first request has arrived', () => requested.length === 1);
    current = denyAll;
    client.reset();
    gate.open();
    assert.equal((await sent).status, 200);
    await assert.rejects(waiting, EgressBlockedError);
    assert.deepEqual(requested, ['/hook/sent']);
  });

  test('after reset() a connection that opened under the old rules is not used', async (t) => {
    const requested: (string | undefined)[] = [];
    const receiver = await startReceiver(t, (req, res) => {
      requested.push(req.url);
      res.end();
    });
    const gate = createGate();
    let lookups = 0;
    let current = rules;
    const client = startClient(t, {
      rules: () => current,
      lookup: async () => {
        lookups++;
        await gate.opened;
        return [good];
      },
    });
    const request = client.request(`http://slow.test:${receiver.port}/`, plain);
    const outcome = assert.rejects(request, EgressBlockedError);
    await until('the lookup has begun', () => lookups === 1);
    current = denyAll;
    client.reset();
    gate.open();
    await outcome;
    assert.equal(lookups, 2);
    assert.deepEqual(requested, []);
  });

  test('close() does not wait for a connection that no request needs', async (t) => {
    const client = startClient(t, { lookup: () => new Promise(() => {}), connectTimeoutMs: 3_600_000 });
    await assert.rejects(client.request('http://hole.test/', { ...plain, timeoutMs: 50 }), { code: 'EGRESS_TIMEOUT' });
    await client.close();
  });

  test('close() waits for requests in flight and refuses later ones', async (t) => {
    const gate = createGate();
    const receiver = await startReceiver(t, async (_req, res) => {
      await gate.opened;
      res.end('late');
    });
    const client = createEgressClient({ rules: () => rules });
    const answer = client.request(receiver.url, plain);
    const closing = client.close();
    await assert.rejects(client.request(receiver.url, plain), { code: 'EGRESS_CLOSED' });
    gate.open();
    assert.equal(Buffer.from((await answer).body).toString(), 'late');
    await closing;
    await client.close();
    await until('every socket is closed', () => receiver.openSockets() === 0);
  });
});
