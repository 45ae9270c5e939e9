import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { eventually } from '@recordbus/testing';
import { serveAlone } from './topologies.ts';
import { post, replica, startGateway } from './upstream-fixture.ts';

describe('a service with several addresses', () => {
  const two = () => Promise.resolve(['127.0.0.1', '127.0.0.2']);
  const pair = async () => {
    await using started = new AsyncDisposableStack();
    const first = started.use(await serveAlone(replica('first'), 0, '127.0.0.1'));
    started.use(await serveAlone(replica('second'), first.port, '127.0.0.2'));
    const both = started.move();
    return { first, [Symbol.asyncDispose]: () => both.disposeAsync() };
  };
  const ask = async (url: string) => (await fetch(`${url}/api/v1/who`)).text();

  test('gets requests on all of them, and keeps serving when one dies, even requests that must not be repeated', async () => {
    await using both = await pair();
    const { first } = both;
    await using gateway = await startGateway(`http://records.test:${first.port}`, { resolve: two });
    const answers = [];
    for (let request = 0; request < 20; request += 1) answers.push(await ask(gateway.url));
    assert.ok(answers.filter((name) => name === 'first').length >= 8, answers.join());
    assert.ok(answers.filter((name) => name === 'second').length >= 8, answers.join());

    await first.close();
    for (let request = 0; request < 20; request += 1) {
      assert.equal((await post(gateway.url)).status, 200);
      assert.equal(await ask(gateway.url), 'second');
    }
    await using _again = await serveAlone(replica('first'), first.port, '127.0.0.1');
    await eventually(async () => (await ask(gateway.url)) === 'first');
  });

  test('is reached without an address that hangs, until that one answers again', async () => {
    await using first = await serveAlone(replica('first'), 0, '127.0.0.1');
    const held = new Set<Socket>();
    const hanging = createTcpServer((socket) => held.add(socket.on('error', () => {}).resume()));
    using ending = new DisposableStack();
    ending.defer(() => {
      hanging.close();
      for (const socket of held) socket.destroy();
    });
    hanging.listen(first.port, '127.0.0.2');
    await once(hanging, 'listening');
    await using gateway = await startGateway(`http://records.test:${first.port}`, { resolve: two });
    await eventually(async () => {
      for (let request = 0; request < 6; request += 1)
        await fetch(`${gateway.url}/api/v1/who`, { signal: AbortSignal.timeout(1500) });
      return true;
    });

    ending.dispose();
    await using _second = await serveAlone(replica('second'), first.port, '127.0.0.2');
    await eventually(async () => (await ask(gateway.url)) === 'second');
  });

  test('is reached at changed addresses, and at the last ones while its name does not resolve', async () => {
    await using both = await pair();
    const { first } = both;
    let resolve: () => Promise<string[]> = async () => ['127.0.0.1'];
    await using gateway = await startGateway(`http://records.test:${first.port}`, { resolve: () => resolve() });
    assert.equal(await ask(gateway.url), 'first');
    resolve = async () => ['127.0.0.2'];
    await eventually(async () => (await ask(gateway.url)) === 'second');
    resolve = () => Promise.reject(new Error('no name server'));
    await first.close();
    assert.equal(await ask(gateway.url), 'second');
  });
});
