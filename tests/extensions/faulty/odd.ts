import { parentPort } from 'node:worker_threads';
import { defineExtension, refuse, reply, route } from '@recordbus/extensions';

const onPath = (path: string, handler: Parameters<typeof route>[0]['handler']) =>
  route({ method: 'GET', path: `/odd/${path}`, access: 'public', timeoutMs: 20_000, handler });
/** A value that cannot become text. */
const shapeless: unknown = Object.create(null);

/** Harmless code that answers, throws and sends unusual values. */
export const extension = defineExtension({
  routes: [
    onPath('well', () => 'well'),
    onPath('answers-a-function', () => () => 1),
    onPath('answers-a-bigint', () => ({ count: 1n })),
    onPath('answers-wrong-headers', () => reply(200, 1, { 'x-note': 'two\r\nlines' })),
    onPath('throws-nothing', () => {
      throw shapeless;
    }),
    onPath('throws-a-trap', () => {
      throw Object.defineProperty(new Error(), 'stack', { get: () => process.exit });
    }),
    onPath('refuses-with-a-fraction', () => {
      throw refuse(404.5, 'half found');
    }),
    onPath('refuses-with-a-function', () => {
      throw refuse(422, 'validation failed', JSON.parse('{"count":7}'));
    }),
    onPath('changes-json', () => {
      JSON.stringify = () => 'mine';
      return { whole: true };
    }),
    onPath('says-rubbish', async () => {
      for (const rubbish of [null, 'rubbish', { type: 'log', level: 'none' }, { type: 'done', call: 1 }])
        parentPort?.postMessage(rubbish);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return 'said';
    }),
    onPath('writes', () => {
      process.stdout.write('to standard output\n');
      process.stderr.write('to standard error\n');
    }),
    onPath('logs-as-another', (_request, { log }) => {
      log.info('as myself', { level: 'fatal', extension: 'another', service: 'gateway', colour: 'red' });
    }),
    onPath('loops-after', () => {
      // Blocks the thread like an endless loop, but without a core's time.
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
      return 'answered';
    }),
    onPath('asks-much', async (_request, { kv }) => {
      await Promise.all(Array.from({ length: 2000 }, (_, index) => kv.set(`much ${index}`, index)));
    }),
    onPath('asks-with-much', (_request, { http }) => http.fetch('http://127.0.0.1/', { body: 'x'.repeat(17_000_000) })),
    onPath('kv', async (_request, { kv }) => {
      const values = { NUL: 'a\0b', 'half a character': '\ud800' };
      const problems = Object.entries(values).map(async ([name, value]) => [
        name,
        await problemOf(kv.set('odd', value)),
      ]);
      await kv.set('most', Number.MAX_VALUE);
      return {
        ...Object.fromEntries(await Promise.all(problems)),
        sum: await problemOf(kv.increment('most', Number.MAX_VALUE)),
        key: await problemOf(kv.get('')),
      };
    }),
  ],
});

/** What an error answers; undefined if there is none. */
const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ status, message, details }) => ({ status, message, details }),
  );
