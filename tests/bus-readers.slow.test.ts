import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { createWebhook } from './harness/clients/webhook.ts';
import { eventually, Hopeless } from './harness/eventually.ts';
import { endChild, startChild } from './harness/processes/child.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { loggedErrors } from './harness/processes/logs.ts';
import { natsBinary } from './harness/servers/platform-binaries.ts';
import { startReceiver } from './harness/servers/receiver.ts';
import type { Server } from './harness/servers/server.ts';
import { createGround, repository, startStack } from './harness/stacks/stack.ts';

const passwords = { recordbus: 'of-the-services', crm: '12e4-of-the-reader' };

/** Starts a nats-server with the product's configuration for readers. */
async function startBusWithReaders(): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-nats-'));
  const [port, monitorPort] = [await findFreePort(), await findFreePort()];
  const configuration = readFileSync(join(repository, 'infra/nats/with-readers.conf'), 'utf8');
  const file = join(directory, 'nats-server.conf');
  writeFileSync(file, configuration.replace('store_dir: /data', `store_dir: ${JSON.stringify(directory)}`));
  const child = startChild(natsBinary(), ['-c', file, '-a', '127.0.0.1', '-p', `${port}`, '-m', `${monitorPort}`], {
    env: { ...process.env, NATS_PASSWORD: `"${passwords.recordbus}"`, NATS_CRM_PASSWORD: `"${passwords.crm}"` },
  });
  const remove = async (): Promise<void> => {
    await endChild(child);
    rmSync(directory, { recursive: true, force: true });
  };
  await eventually('nats-server is ready', () => {
    if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
    return child.lines.some((line) => line.includes('Server is ready'));
  });
  const unused = async (): Promise<void> => {};
  return {
    url: `nats://recordbus:${passwords.recordbus}@127.0.0.1:${port}`,
    start: unused,
    stop: unused,
    kill: unused,
    freeze: unused,
    thaw: unused,
    wipe: unused,
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

const connectAs = (port: string, user: keyof typeof passwords, inboxPrefix?: string): Promise<NatsConnection> =>
  connect({
    servers: `127.0.0.1:${port}`,
    user,
    pass: passwords[user],
    ...(inboxPrefix && { inboxPrefix }),
  });

test('another system can only read its own consumer [events §5]', async (t) => {
  await using tidying = new AsyncDisposableStack();
  const ground = tidying.use(await createGround(undefined, await startBusWithReaders()));
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const receiver = tidying.use(await startReceiver());
  const { port } = new URL(ground.bus.url);
  const url = (user: keyof typeof passwords) => `nats://${user}:${passwords[user]}@127.0.0.1:${port}`;
  const admin = await stack.admin();
  for (const name of ['posts', 'salaries']) await admin.post('/api/v1/collections', { name, type: 'base', fields: [] });
  const example = (file: string, user: keyof typeof passwords, ...args: readonly string[]) => {
    const path = join(repository, 'examples/subscriber/src', file);
    const child = startChild(process.execPath, [path, ...args], { env: { ...process.env, NATS_URL: url(user) } });
    tidying.defer(async () => {
      await endChild(child);
    });
    return child;
  };

  await t.test('the services work with their permissions', async () => {
    await createWebhook(admin, receiver.url, ['*']);
    await admin.create('posts', {});
    await receiver.received(1);
    await admin.create('salaries', {});
    await receiver.received(2);
  });

  await t.test('the example reads each event of its consumer once', async () => {
    const { code } = await example('add-reader.ts', 'recordbus', 'crm', 'events.posts.*').exited;
    assert.equal(code, 0);
    const subscriber = example('subscribe.ts', 'crm', 'crm');
    const { id } = await admin.create('posts', {});
    await eventually('the example has read the second post', () => subscriber.lines.some((line) => line.includes(id)));
    assert.deepEqual(
      subscriber.lines.map((line) => line.split(' ')[0]),
      ['posts.create', 'posts.create'],
      subscriber.lines.join('\n'),
    );
  });

  const reader = await connectAs(port, 'crm', '_INBOX_crm');
  tidying.defer(() => reader.close());
  const send = async (subject: string, body: object | string = {}): Promise<unknown> =>
    (await reader.request(subject, typeof body === 'string' ? body : JSON.stringify(body), { timeout: 2000 })).json();
  const refused = { message: /^Permissions Violation/i };

  const consumer = { stream_name: 'EVENTS', config: { durable_name: 'spy', ack_policy: 'explicit' } };
  for (const [what, subject, body] of [
    ['publish an event', 'events.posts.create', { id: 'forged' }],
    ['purge the stream', '$JS.API.STREAM.PURGE.EVENTS', {}],
    ['delete the stream', '$JS.API.STREAM.DELETE.EVENTS', {}],
    ['delete a message', '$JS.API.STREAM.MSG.DELETE.EVENTS', { seq: 1 }],
    ['read a message without its consumer', '$JS.API.STREAM.MSG.GET.EVENTS', { seq: 1 }],
    ['read a message directly', '$JS.API.DIRECT.GET.EVENTS', { seq: 1 }],
    ["take the service's events", '$JS.API.CONSUMER.MSG.NEXT.EVENTS.webhooks', { batch: 1 }],
    ["read the service's consumer", '$JS.API.CONSUMER.INFO.EVENTS.webhooks', {}],
    ["delete the service's consumer", '$JS.API.CONSUMER.DELETE.EVENTS.webhooks', {}],
    ["acknowledge the service's events", '$JS.ACK.EVENTS.webhooks.1.1.1.1.0', '+ACK'],
    ['create a consumer', '$JS.API.CONSUMER.CREATE.EVENTS.spy', consumer],
    ['change the filter of its consumer', '$JS.API.CONSUMER.CREATE.EVENTS.crm', consumer],
    ['notify the services', 'recordbus.notice.settings', 'x'],
    ['send messages to clients', 'recordbus.live.broadcast', 'x'],
  ] as const) {
    await t.test(`it may not ${what}`, async () => {
      await assert.rejects(send(subject, body), refused);
    });
  }

  for (const subject of ['events.>', '_INBOX.>', 'recordbus.notice.*', 'recordbus.live.*', '>']) {
    await t.test(`it may not listen to ${subject}`, async () => {
      const failure = await new Promise((resolve) => {
        reader.subscribe(subject, {
          callback(error) {
            if (error) resolve(error);
          },
        });
      });
      assert.match(String(failure), /Permissions Violation for Subscription/i);
    });
  }

  await t.test('the services cannot purge or delete the stream either', async () => {
    const services = await connectAs(port, 'recordbus');
    tidying.defer(() => services.close());
    const { streams } = await jetstreamManager(services, { checkAPI: false });
    await assert.rejects(streams.purge('EVENTS'), refused);
    await assert.rejects(streams.delete('EVENTS'), refused);
    assert.equal((await streams.info('EVENTS')).state.messages, 3);
    await jetstream(services).consumers.get('EVENTS', 'webhooks');
  });

  await t.test('no error was logged', () => {
    assert.deepEqual(loggedErrors(stack.process.lines), []);
  });
});
