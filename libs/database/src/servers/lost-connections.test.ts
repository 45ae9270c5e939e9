import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { openDatabase } from '../database.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';

/** Starts a network before a server that can forget open connections: both ends stay open, and no byte passes. */
async function startForgetfulNetwork(serverUrl: string) {
  const sockets = new Set<Socket>();
  const { hostname, port: serverPort } = new URL(serverUrl);
  const proxy = createServer((client) => {
    const server = connect(Number(serverPort), hostname);
    for (const [end, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(end);
      end.on('error', () => {});
      end.on('data', (chunk) => other.write(chunk));
      end.on('close', () => sockets.delete(end) && other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    url: Object.assign(new URL(serverUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    forget() {
      for (const socket of sockets) socket.pause();
      sockets.clear();
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

test('connections that the network forgot end, with their locks, and slow statements continue', {
  skip: skipWithoutDatabase,
}, async () => {
  const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  const network = await startForgetfulNetwork(temporary.url);
  const log = createLogger('test', 'silent');
  const [direct, database] = await Promise.all(
    [temporary.url, network.url].map((url) => openDatabase({ url, name: 'test', log, maxConnections: 1 })),
  );
  assert.ok(direct && database);
  const pidOf = { text: 'select pg_backend_pid() as pid', values: [] };
  const lostError = { message: 'Connection terminated: the network lost it' };
  try {
    let pid = 0;
    let isForgotten = false;
    const broken = database.transaction(async (query) => {
      pid = (await query<{ pid: number }>(pidOf))[0]?.pid ?? 0;
      await query({ text: 'create table locked (id integer)', values: [] });
      await database.of('background').query(pidOf);
      network.forget();
      isForgotten = true;
      await query(pidOf);
    });
    const refused = assert.rejects(broken, lostError);
    // A connection that is being opened when the network forgets would never answer.
    await eventually(() => isForgotten);
    const slow = database
      .of('signIn')
      .query<{ slow: string }>({ text: `select 'done' || pg_sleep(9) as slow`, values: [] });
    await refused;
    await eventually(async () => {
      const sessions = { text: 'select from pg_stat_activity where pid = $1', values: [pid] };
      return (await direct.query(sessions)).length === 0;
    });
    // The idle connection ends too.
    assert.equal((await database.of('background').query(pidOf)).length, 1);
    assert.deepEqual(await slow, [{ slow: 'done' }]);
  } finally {
    await Promise.all([direct.close(), database.close()]);
    network.stop();
    await temporary.drop();
  }
});
