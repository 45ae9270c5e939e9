import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { listen } from '@recordbus/http';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { Pool } from 'undici';
import { relay } from '../src/upstream/relay.ts';
import { SlowExchanges } from '../src/upstream/slow-exchanges.ts';

test('a request that waits for a connection is signed when it gets one', async () => {
  await using ending = new AsyncDisposableStack();
  const serve = async (app: Parameters<typeof listen>[0]) => {
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    ending.defer(() => server.close());
    return server;
  };
  const held: ServerResponse[] = [];
  const service = await serve(({ headers }, response) => {
    response.setHeader('X-Signed', String(headers['x-recordbus-context']));
    held.push(response);
  });
  const pool = new Pool(service.url, { connections: 1 });
  ending.defer(() => pool.close());
  const exchanges = new SlowExchanges(createLogger('test', 'silent'));
  let time = 1;
  let arrived = 0;
  const front = await serve((request, response) => {
    arrived += 1;
    void relay(pool, request, response, { sign: () => `${time}`, client: 'a', held: exchanges, staysOpen: false });
  });

  const first = fetch(front.url);
  await eventually(() => held.length === 1);
  const second = fetch(front.url);
  await eventually(() => arrived === 2);
  time = 2;
  held[0]?.end();
  await eventually(() => held.length === 2);
  held[1]?.end();
  assert.equal((await first).headers.get('x-signed'), '1');
  assert.equal((await second).headers.get('x-signed'), '2');
});
