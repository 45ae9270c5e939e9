import { defineExtension, route, z } from '@recordbus/extensions';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const hungry: unknown[] = [];

/** Blocks the thread like an endless loop, but without a core's time. */
const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

/** Code with every kind of defect. */
export const extension = defineExtension({
  hooks: {
    faulty_orders: {
      async beforeCreate({ values }, { records }) {
        if (values.note === 'throws') throw new Error('a defect of the hook');
        if (values.note === 'loops') block();
        if (values.note === 'hangs') await pause(60_000);
        if (values.note === 'runs in circles') await records.create('faulty_orders', { note: values.note });
        if (values.note === 'leaves work behind') void records.create('faulty_orders', { note: 'left behind' });
      },
    },
    faulty_parts: {
      async beforeDelete({ previous }, { records }) {
        await records.create('faulty_parts', { order: previous?.order });
      },
    },
  },
  routes: [
    route({
      method: 'GET',
      path: '/faulty/loops',
      access: 'public',
      timeoutMs: 1000,
      handler: () => {
        for (;;);
      },
    }),
    route({ method: 'GET', path: '/faulty/hangs', access: 'public', timeoutMs: 1000, handler: () => pause(60_000) }),
    route({
      method: 'POST',
      path: '/faulty/holds/:how',
      access: 'public',
      params: z.object({ how: z.enum(['loops', 'hangs', 'exits', 'leaves', 'outlasts']) }),
      body: z.object({ id: z.string() }),
      timeoutMs: 8000,
      async handler({ params: { how }, body: { id } }, { transaction, log }) {
        const held = transaction(async ({ records }) => {
          await records.update('faulty_orders', id, { note: how });
          log.info(`${how} holds a record`);
          if (how === 'loops') block();
          if (how === 'exits') process.exit(1);
          await pause(how === 'outlasts' ? 6000 : 60_000);
          await records.update('faulty_orders', id, { note: 'too late' });
        });
        if (how === 'leaves') await Promise.race([held, pause(500)]);
        else await held;
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/eats',
      access: 'public',
      handler: () => {
        for (;;) hungry.push(new Array(100_000).fill(1));
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/eats-at-once',
      access: 'public',
      handler: () => {
        const map = new Map();
        for (let key = 0; ; key += 1) map.set({ key }, key);
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/throws',
      access: 'public',
      handler: () => {
        throw new Error('a defect with a secret in it');
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/rejects-later',
      access: 'public',
      async handler() {
        setTimeout(() => Promise.reject(new Error('nobody caught this')), 10);
        await pause(5000);
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/throws-later',
      access: 'public',
      async handler() {
        setTimeout(() => {
          throw new Error('nobody could catch this');
        }, 10);
        await pause(5000);
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/rejects-after',
      access: 'public',
      handler() {
        setTimeout(() => Promise.reject(new Error('after the answer')), 50);
        return 'answered';
      },
    }),
    route({
      method: 'GET',
      path: '/faulty/logs',
      access: 'public',
      handler(_request, { log }) {
        for (let line = 0; line < 50_000; line += 1) log.info('x'.repeat(1000));
        log.info('y'.repeat(5_000_000), { much: 'z'.repeat(5_000_000) });
        return 'logged';
      },
    }),
    route({ method: 'GET', path: '/faulty/answers-much', access: 'public', handler: () => 'x'.repeat(20_000_000) }),
    route({
      method: 'GET',
      path: '/faulty/never-ends',
      access: 'public',
      timeoutMs: 1000,
      handler: () => ({
        toJSON() {
          for (;;);
        },
      }),
    }),
    route({ method: 'GET', path: '/faulty/exits', access: 'public', handler: () => process.exit(1) }),
    route({ method: 'GET', path: '/faulty/circular', access: 'public', handler: () => hungryCircle() }),
    route({ method: 'GET', path: '/faulty/well', access: 'public', handler: () => 'well' }),
  ],
});

function hungryCircle(): object {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  return circle;
}
