import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedInEvent } from '@recordbus/accounts';
import { type Bus, connectBus, type EventStream, ensureEventStream, eventStream, subjectOf } from '@recordbus/bus';
import { managerOf, publishMessage, removeStream } from '@recordbus/bus/testing';
import { newId } from '@recordbus/database';
import { type ExtensionDescription, type LoadedExtension, nameOfTarget } from '@recordbus/extension-host';
import type { RecordEvent } from '@recordbus/extensions';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createAfterHooks } from './after-hooks.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';
const log = createLogger('test', 'silent');

type Hooks = Partial<Pick<ExtensionDescription, 'hooks' | 'signIn'>>;

/** Code for the extension `shop`: some of its hooks. */
const code = (hooks: Hooks): LoadedExtension => ({
  name: 'shop',
  file: 'shop.ts',
  description: { hooks: [], signIn: [], routes: [], crons: [], events: [], jobs: [], ...hooks },
});
const creates = { collection: 'orders', point: 'afterCreate' } as const;
const updates = { collection: 'orders', point: 'afterUpdate' } as const;
const ofEvery = { collection: '*', point: 'afterCreate' } as const;
const older = code({ hooks: [creates] });
const newer = code({ hooks: [creates, updates] });

describe('after hooks on replicas', { skip }, () => {
  let bus: Bus;
  let stream: EventStream;
  before(async () => {
    bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
    await eventually(() => bus.connected);
  });
  after(() => bus.close());

  /** Runs work on a separate stream for a test's writes. */
  async function onNewStream(work: () => Promise<void>): Promise<void> {
    const suffix = newId().slice(-12);
    stream = { ...eventStream, name: `HOOKS_${suffix}`, prefix: `hooks-${suffix}`, maxBytes: 1024 ** 2 };
    await ensureEventStream(bus, stream);
    try {
      await work();
    } finally {
      await removeStream(bus, stream);
    }
  }

  async function publish(event: string, data: object = { record: {} }): Promise<string> {
    const id = newId();
    const [collection] = event.split('.');
    const body = { id, event, collection, actor: { type: 'admin', id: null }, request_id: id, timestamp: 0, data };
    await publishMessage(bus, subjectOf(event, stream.prefix), JSON.stringify(body), { id });
    return id;
  }
  const publishSome = (event: string) => Promise.all(Array.from({ length: 10 }, () => publish(event)));

  /** Starts a replica with this code. `seen` has its hooks' calls. Resolves when it reads. */
  async function replica(given: LoadedExtension, refuse: (hook: string) => boolean = () => false) {
    let extensions = [given];
    const seen: string[] = [];
    const hooks = createAfterHooks({
      erased: { isErased: () => false, refresh: async () => {} },
      host: {
        get extensions() {
          return extensions;
        },
        async call(_extension, { target, input }) {
          const line = `${nameOfTarget(target)} ${(input as RecordEvent).id}`;
          const isRefused = refuse(nameOfTarget(target));
          seen.push(line);
          if (isRefused) throw new Error('not now');
        },
      },
      toolbox: () => async () => undefined,
      bus,
      stream,
      query: async () => [],
      log,
    });
    const load = async (loaded: LoadedExtension) => {
      extensions = [loaded];
      await hooks.renew();
      const { hooks: declared, signIn } = loaded.description;
      await eventually(async () => (await consumers()).length >= declared.length + signIn.length);
    };
    await load(given);
    return { seen, load, stop: hooks.stop };
  }
  async function consumers() {
    const manager = await managerOf(bus);
    const found = [];
    for await (const consumer of manager.consumers.list(stream.name)) found.push(consumer);
    return found;
  }
  const lines = (hook: string, ids: readonly string[]) => ids.map((id) => `hook orders.${hook} ${id}`);
  const haveSeen = (expected: readonly string[], ...replicas: { seen: readonly string[] }[]) =>
    eventually(() => {
      const seen = replicas.flatMap((one) => one.seen);
      assert.ok(seen.length <= expected.length, 'an event is seen twice');
      return expected.every((line) => seen.includes(line));
    });

  it('share the hooks that both have, and leave new hooks to the newer replica', () =>
    onNewStream(async () => {
      const [old, young] = [await replica(older), await replica(newer)];
      const created = await publishSome('orders.create');
      const updated = await publishSome('orders.update');
      await haveSeen([...lines('afterCreate', created), ...lines('afterUpdate', updated)], old, young);
      assert.ok(!old.seen.some((line) => line.includes('afterUpdate')));
      await Promise.all([old.stop(), young.stop()]);
    }));

  it('receive events that were written while only older code was running', () =>
    onNewStream(async () => {
      const first = await replica(newer);
      await first.stop();
      const old = await replica(older);
      const updated = await publishSome('orders.update');
      const created = await publishSome('orders.create');
      await haveSeen(lines('afterCreate', created), old);
      await old.stop();
      const again = await replica(newer);
      await haveSeen(lines('afterUpdate', updated), again);
      await again.stop();
    }));

  it('receive events that are written after a hook is added at run time', () =>
    onNewStream(async () => {
      const one = await replica(older);
      await publish('orders.update');
      const publishedAtMs = Date.now();
      await eventually(() => Date.now() > publishedAtMs);
      await one.load(newer);
      const updated = await publishSome('orders.update');
      await haveSeen(lines('afterUpdate', updated), one);
      await one.stop();
    }));

  it('retry only the hook that failed', () =>
    onNewStream(async () => {
      let failures = 0;
      const one = await replica(code({ hooks: [ofEvery, creates] }), (hook) => {
        failures += hook === 'hook orders.afterCreate' ? 1 : 0;
        return failures === 1 && hook === 'hook orders.afterCreate';
      });
      const id = await publish('orders.create');
      await eventually(() => one.seen.length === 3);
      assert.deepEqual(one.seen.toSorted(), [
        `hook *.afterCreate ${id}`,
        ...lines('afterCreate', [id]),
        ...lines('afterCreate', [id]),
      ]);
      await one.stop();
    }));

  it('receive sign-ins to their collection', () =>
    onNewStream(async () => {
      const one = await replica(
        code({
          signIn: [
            { collection: 'members', point: 'after' },
            { collection: '*', point: 'after' },
          ],
        }),
      );
      const signIn = { flow: 'otp', user_id: 'u', email: null, client_address: '', user_agent: null };
      const staff = await publish(signedInEvent, { ...signIn, collection: 'staff' });
      const member = await publish(signedInEvent, { ...signIn, collection: 'members' });
      await haveSeen(
        [`sign-in hook *.after ${staff}`, `sign-in hook *.after ${member}`, `sign-in hook members.after ${member}`],
        one,
      );
      await one.stop();
    }));

  it('leave a consumer, which the server removes when the stream has dropped its events', () =>
    onNewStream(async () => {
      await (await replica(newer)).stop();
      const found = await consumers();
      assert.deepEqual(found.map(({ name }) => name).sort(), [
        'extension-shop-orders-create',
        'extension-shop-orders-update',
      ]);
      const { max_age } = (await (await managerOf(bus)).streams.info(stream.name)).config;
      for (const { config } of found) assert.equal(config.inactive_threshold, max_age);
    }));
});
