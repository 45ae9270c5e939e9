import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { eventually } from '@recordbus/testing';
import { type ListeningServer, listen } from './server.ts';

/** The period is longer than the pauses of a busy machine. */
const patience = { headMs: 400, periodMs: 1000, minBodyBytes: 100 };

describe('slow clients', () => {
  let server: ListeningServer;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  before(async () => {
    server = await listen((request, response) => answer(request, response), { host: '127.0.0.1', port: 0, patience });
  });
  after(() => server.close());

  /** Sends a byte now and then until the server cuts the connection. */
  async function drip(socket: Socket, byte: string): Promise<void> {
    socket.on('error', () => {});
    await eventually(() => {
      socket.write(byte);
      return socket.closed;
    });
  }

  test('whose head arrives too slowly get 408 in the error shape', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    void drip(socket, 'a');
    assert.match(await text(socket), /^HTTP\/1.1 408 Request Timeout\r\n[\s\S]*"code":"request_timeout"/);
  });

  test('whose body arrives too slowly, or stalls, are cut', async () => {
    answer = (request) => request.resume().on('error', () => {});
    for (const byte of ['a', '']) {
      const socket = connect(server.port, '127.0.0.1');
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n');
      await drip(socket, byte);
    }
  });

  test('whose body makes progress may take many periods', async () => {
    answer = async (request, response) => response.end(String((await text(request)).length));
    const socket = connect(server.port, '127.0.0.1');
    const answered = text(socket);
    const parts = 120;
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${parts * 1000}\r\n\r\n`);
    for (let part = 0; part < parts; part += 1) {
      socket.write('a'.repeat(1000));
      await setTimeout(20);
    }
    assert.match(await answered, /^HTTP\/1.1 200 [\s\S]*\r\n120000$/);
  });

  test('that do not read their answer are cut, unlike those that read it slowly', async () => {
    let response: ServerResponse | undefined;
    answer = (_, current) => {
      response = current;
      current.end(Buffer.alloc(20_000_000));
    };
    const deaf = connect(server.port, '127.0.0.1').on('error', () => {});
    deaf.pause();
    deaf.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(deaf, 'connect');
    await eventually(() => response?.closed === true);
    assert.equal(response?.writableFinished, false);
    deaf.destroy();

    const slow = connect(server.port, '127.0.0.1');
    slow.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let received = 0;
    for await (const chunk of slow) {
      const before = received;
      received += chunk.length;
      if (Math.floor(before / 2_000_000) !== Math.floor(received / 2_000_000)) await setTimeout(100);
    }
    assert.ok(received > 20_000_000);
  });

  test('are not cut while they wait for a slow answer', async () => {
    answer = async (_, response) => {
      await setTimeout(patience.periodMs * 1.5);
      response.end('at last');
    };
    assert.equal(await (await fetch(server.url, { method: 'POST', body: 'a' })).text(), 'at last');
  });
});
