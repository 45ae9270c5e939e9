import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { createLogger } from '@recordbus/process/logging';
import { startNats } from './nats.ts';
import { findProcess } from './process-identity.ts';
import { startInProcessThat } from './short-lived-process.testing.ts';
import { until } from './until.ts';

const log = createLogger('test', 'silent');
const base = await mkdtemp(join(tmpdir(), 'nats-'));
const directory = join(base, 'nats');
after(() => rm(base, { recursive: true, force: true }));

function connectTo(url: string): Promise<NatsConnection> {
  const { host, username, password } = new URL(url);
  return connect({ servers: host, user: username, pass: password, reconnect: false });
}

// The tests run in order on one store.

test('the server stores messages from clients with the password', async () => {
  const server = await startNats({ directory, log });
  try {
    const connection = await connectTo(server.url);
    await (await jetstreamManager(connection)).streams.add({ name: 'KEPT', subjects: ['kept.>'] });
    assert.equal((await jetstream(connection).publish('kept.one', 'hello')).seq, 1);
    await connection.close();
    const { host, password } = new URL(server.url);
    await assert.rejects(connect({ servers: host, reconnect: false }), /[Aa]uthorization/);
    await assert.rejects(connectTo(server.url.replace(password, 'wrong')), /[Aa]uthorization/);
    assert.equal((await stat(join(directory, 'password'))).mode & 0o777, 0o600);
    assert.equal((await stat(join(directory, 'nats-server.conf'))).mode & 0o777, 0o600);
  } finally {
    await server.stop();
  }
  assert.equal(findProcess(server.pid), undefined);
});

test('a later start finds the streams', async () => {
  const server = await startNats({ directory, log });
  assert.equal(await messagesKept(server.url), 1);
  await server.stop();
});

test('a crash is reported in a sentence with the last lines', async () => {
  const server = await startNats({ directory, log });
  process.kill(server.pid, 'SIGKILL');
  assert.match(await server.exited, /^NATS was ended by SIGKILL\. The last lines of .*nats\.log:\n/);
  await server.stop();
});

test('the server ends with a stack that exits without stopping it', async () => {
  const pid = await startInProcessThat('exits', 'nats.ts', 'startNats', directory);
  assert.ok(await until(10_000, async () => findProcess(pid) === undefined || undefined));
});

test('a server that a killed stack left behind is stopped before the next one starts', async () => {
  const leftoverPid = await startInProcessThat('killed', 'nats.ts', 'startNats', directory);
  assert.ok(findProcess(leftoverPid), 'the server outlives the process that started it');
  const server = await startNats({ directory, log });
  assert.equal(findProcess(leftoverPid), undefined);
  assert.equal(await messagesKept(server.url), 1);
  await server.stop();
});

test('the server listens only on 127.0.0.1 and syncs each write', async () => {
  const server = await startNats({ directory, log });
  await server.stop();
  const configuration: unknown = JSON.parse(await readFile(join(directory, 'nats-server.conf'), 'utf8'));
  assert.partialDeepStrictEqual(configuration, { host: '127.0.0.1', jetstream: { sync_interval: 'always' } });
});

async function messagesKept(url: string): Promise<number> {
  const connection = await connectTo(url);
  const { state } = await (await jetstreamManager(connection)).streams.info('KEPT');
  await connection.close();
  return state.messages;
}
