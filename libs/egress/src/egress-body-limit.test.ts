import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plain, startClient } from './test-client.ts';
import { startReceiver, until } from './test-receiver.ts';

describe('the body limit', () => {
  test('neither keeps nor waits for the rest of a 100 MB answer', async (t) => {
    const chunk = Buffer.alloc(1_000_000, 'x');
    const receiver = await startReceiver(t, (_req, res) => {
      let left = 100;
      const more = () => {
        while (left-- > 0) if (!res.write(chunk)) return;
        res.end();
      };
      res.on('drain', more);
      more();
    });
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.status, 200);
    assert.equal(answer.truncated, true);
    assert.equal(answer.body.length, plain.maxBodyBytes);
    await until('the socket is closed', () => receiver.openSockets() === 0);
    assert.ok((receiver.sockets[0]?.bytesWritten ?? 0) < 50_000_000);
  });

  test('does not wait for a slow body to end once it is reached', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => void res.write('x'.repeat(1_000)));
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.body.length, 1_000);
    assert.equal(answer.truncated, true);
  });

  test('returns a body with exactly this size in full', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end('x'.repeat(1_000)));
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.body.length, 1_000);
    assert.equal(answer.truncated, false);
  });

  test('cuts an answer that is slightly longer, and keeps its socket', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end('x'.repeat(3_000)));
    const client = startClient(t, { maxSocketsPerOrigin: 1 });
    for (let i = 0; i < 3; i++) {
      const answer = await client.request(receiver.url, plain);
      assert.equal(answer.body.length, 1_000);
      assert.equal(answer.truncated, true);
    }
    assert.equal(receiver.sockets.length, 1);
  });

  test('keeps nothing at 0, and does not wait for the body', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.flushHeaders());
    const answer = await startClient(t).request(receiver.url, { ...plain, maxBodyBytes: 0 });
    assert.deepEqual([answer.status, answer.body.length, answer.truncated], [200, 0, true]);
  });
});
