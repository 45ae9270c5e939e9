import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { type ListeningServer, listen } from './server.ts';

describe('requests that arrive before earlier answers are read', () => {
  let server: ListeningServer;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let begun: string[];
  before(async () => {
    server = await listen(
      (request, response) => {
        begun.push(request.url ?? '');
        answer(request, response);
      },
      { host: '127.0.0.1', port: 0 },
    );
  });
  beforeEach(() => {
    begun = [];
  });
  after(() => server.close());

  const get = (path: string, more = '') => `GET /${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
  const open = (): Socket => connect(server.port, '127.0.0.1').on('error', () => {});
  const answersOf = (received: string) => [...received.matchAll(/\r\n\r\n(\/\w+?)(?=HTTP|$)/g)].map(([, body]) => body);

  test('begin one after another, and other connections do not wait for them', async () => {
    const pending: ServerResponse[] = [];
    answer = (request, response) => {
      if (request.url === '/other') response.end('/other');
      else pending.push(response);
    };
    const socket = open();
    const received = text(socket);
    socket.write(get('a') + get('b') + get('c', 'Connection: close\r\n'));
    for (const [index, path] of ['/a', '/b', '/c'].entries()) {
      await eventually(() => pending.length > index);
      assert.equal(await (await fetch(`${server.url}/other`)).text(), '/other');
      assert.deepEqual(
        begun.filter((url) => url !== '/other'),
        ['/a', '/b', '/c'].slice(0, index + 1),
      );
      pending[index]?.end(path);
    }
    assert.deepEqual(answersOf(await received), ['/a', '/b', '/c']);
  });

  test('are all answered in any number, with and without bodies', async () => {
    answer = async (request, response) => {
      const body = request.method === 'POST' ? await text(request) : 'none';
      // A failed assertion here would leave the request without an answer.
      response.end(body.length === (request.method === 'POST' ? 1000 : 4) ? request.url : '/damaged');
    };
    const count = 5000;
    const paths = Array.from({ length: count }, (_, n) => `/${n}`);
    const post = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(1000)}`;
    const socket = open();
    const received = text(socket);
    for (const [n, path] of paths.entries()) socket.write(n % 10 === 0 ? post(path) : get(path.slice(1)));
    socket.write(get('last', 'Connection: close\r\n'));
    assert.deepEqual(answersOf(await received), [...paths, '/last']);
  });

  test('are not read without limit', async () => {
    let first: ServerResponse | undefined;
    answer = (_request, response) => {
      first ??= response;
      if (first !== response) response.end('/a');
    };
    const socket = open();
    const received = text(socket);
    const count = 20_000;
    socket.write(get('a').repeat(count - 1) + get('a', 'Connection: close\r\n'));
    await eventually(() => first?.socket?.isPaused() ?? false);
    assert.equal(begun.length, 1);
    // The parser takes 64 KiB at once.
    assert.ok((first?.socket?.bytesRead ?? 0) <= 128 * 1024);
    first?.end('/a');
    assert.equal(answersOf(await received).length, count);
  });

  test('do not begin while their client does not read, or after it has disconnected', async () => {
    const large = Buffer.alloc(16_000_000);
    answer = (request, response) => response.end(request.url === '/large' ? large : 'small');
    const socket = open().pause();
    await once(socket, 'connect');
    socket.write(get('large').repeat(400));
    await eventually(() => begun.length > 0);
    await (await fetch(`${server.url}/other`)).text();
    assert.equal(begun.filter((url) => url === '/large').length, 1);
    socket.destroy();
    await once(socket, 'close');
    await (await fetch(`${server.url}/other`)).text();
    assert.equal(begun.filter((url) => url === '/large').length, 1);
  });
});

test('only a connection with too many waiting requests is cut when too many wait in total', async () => {
  const logged: { requests?: number }[] = [];
  const log = createLogger('test', 'silent');
  log.warn = (line: object) => logged.push(line);
  const pending = new Map<Socket, ServerResponse>();
  const server = await listen((request, response) => void pending.set(request.socket, response), {
    host: '127.0.0.1',
    port: 0,
    waitingLimit: { perConnection: 4, total: 100 },
    log,
  });
  await using ending = new AsyncDisposableStack();
  ending.defer(() => server.close());
  const send = (times: number): Socket => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    ending.defer(() => void socket.destroy());
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(times));
    return socket;
  };
  const modest = send(4);
  await eventually(() => pending.size === 1);
  for (let round = 0; round < 3; round += 1) {
    const greedy = send(1000);
    await once(greedy.resume(), 'close');
  }
  assert.deepEqual(
    logged.map(({ requests }) => requests),
    [98, 98, 98],
  );
  for (const response of pending.values()) response.end('x');
  await once(modest, 'data');
  assert.equal(pending.size, 4);
});
