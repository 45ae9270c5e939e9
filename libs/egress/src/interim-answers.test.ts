import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EgressFailedError } from './egress-error.ts';
import { plain, startClient } from './test-client.ts';
import { until } from './test-receiver.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone';
const proceed = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Starts a receiver that answers each request by `answer`, with bytes that it chooses. */
async function startRaw(t: TestContext, answer: (socket: Socket) => unknown) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.setNoDelay(true);
    let received = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk;
      if (!received.endsWith('{}')) return;
      received = '';
      answer(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets };
}

const textOf = ({ body }: { readonly body: Uint8Array }) => Buffer.from(body).toString();

describe('interim answers [RFC 9110 §15.2]', () => {
  const interim: Readonly<Record<string, string>> = {
    '100': proceed,
    '100 with headers': 'HTTP/1.1 100 Continue\r\nX-A: HTTP/1.1 100\r\nX-B: b\r\n\r\n',
    '100 without a reason': 'HTTP/1.1 100 \r\n\r\n',
    '100 after empty lines': `\r\n\r\n${proceed}`,
    '100 twice': proceed + proceed,
    '102': 'HTTP/1.1 102 Processing\r\n\r\n',
    '103': 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n',
    'all of them': `HTTP/1.1 103 Early Hints\r\n\r\n${proceed}HTTP/1.1 102 Processing\r\n\r\n${proceed}`,
  };
  for (const [name, head] of Object.entries(interim)) {
    test(`are read over: ${name}`, async (t) => {
      const { url } = await startRaw(t, (socket) => socket.write(head + ok));
      assert.deepEqual([200, 'done'], await statusAndText(t, url));
    });

    test(`are read over byte by byte: ${name}`, async (t) => {
      const { url } = await startRaw(t, async (socket) => {
        for (const byte of Buffer.from(head + ok)) {
          socket.write(Buffer.of(byte));
          await nextTurn();
        }
      });
      assert.deepEqual([200, 'done'], await statusAndText(t, url));
    });
  }

  test('are skipped before each answer on a reused connection', async (t) => {
    const { url, sockets } = await startRaw(t, (socket) => socket.write(proceed + ok));
    const client = startClient(t);
    for (let request = 0; request < 6; request += 1) assert.equal(textOf(await client.request(url, plain)), 'done');
    assert.ok(sockets.length < 6, `${sockets.length} connections`);
  });

  test("leave an answer's body unchanged", async (t) => {
    const body = `${proceed}\r\n\r\n${proceed}`;
    const { url } = await startRaw(t, async (socket) => {
      socket.write(`${proceed}HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      for (const byte of body) {
        socket.write(byte);
        await nextTurn();
      }
    });
    assert.equal(textOf(await startClient(t).request(url, plain)), body);
  });

  test('alone are not an answer', async (t) => {
    const { url } = await startRaw(t, (socket) => socket.end(proceed));
    await assert.rejects(startClient(t).request(url, plain), { code: 'UND_ERR_SOCKET' });
  });

  test('without end are a failure', async (t) => {
    const { url, sockets } = await startRaw(t, (socket) => socket.write(proceed.repeat(101) + ok));
    await assert.rejects(startClient(t).request(url, plain), { code: 'EGRESS_INTERIM' });
    await until('the socket is closed', () => sockets.every(({ destroyed }) => destroyed));
  });

  test('in another protocol are a failure', async (t) => {
    const { url } = await startRaw(t, (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'),
    );
    await assert.rejects(startClient(t).request(url, plain), EgressFailedError);
  });
});

describe('an answer whose body does not end', () => {
  const begun = 'HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nbegun';

  test('fails at the deadline, with its status and what has arrived', async (t) => {
    const { url } = await startRaw(t, (socket) => socket.write(begun));
    const failure = await startClient(t)
      .request(url, { ...plain, timeoutMs: 2000 })
      .catch((error) => error);
    assert.ok(failure instanceof EgressFailedError);
    assert.equal(failure.code, 'EGRESS_TIMEOUT');
    assert.equal(failure.answer?.status, 202);
    assert.equal(textOf(failure.answer), 'begun');
    assert.equal(failure.answer.truncated, true);
  });

  test('fails when the connection breaks, with its status', async (t) => {
    const { url } = await startRaw(t, (socket) => socket.end(begun));
    const failure = await startClient(t)
      .request(url, plain)
      .catch((error) => error);
    assert.ok(failure instanceof EgressFailedError);
    assert.equal(failure.answer?.status, 202);
  });

  test('has no status before its head is complete', async (t) => {
    const { url } = await startRaw(t, (socket) => socket.end(`${proceed}HTTP/1.1 200 OK\r\nX-A: `));
    const failure = await startClient(t)
      .request(url, plain)
      .catch((error) => error);
    assert.ok(failure instanceof EgressFailedError);
    assert.equal(failure.answer, undefined);
  });
});

async function statusAndText(t: TestContext, url: string): Promise<[number, string]> {
  const answer = await startClient(t).request(url, plain);
  return [answer.status, textOf(answer)];
}
