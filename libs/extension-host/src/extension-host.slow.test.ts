import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AppError } from '@recordbus/errors';
import { createLogger } from '@recordbus/process/logging';
import { createExtensionHost, type ExtensionHost } from './extension-host.ts';

const sources = {
  'good.ts': `import { cron, defineEvent, defineExtension, refuse, route, z } from '@recordbus/extensions';
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const onPath = (path: '/' | \`/\${string}\`, handler: () => unknown) => route({ method: 'GET', path, access: 'public', handler });
    export const extension = defineExtension({
      routes: [
        route({ method: 'POST', path: '/sum', body: z.object({ a: z.number(), b: z.number() }), handler: ({ body }) => body.a + body.b }),
        onPath('/throws', () => { throw new Error('a defect'); }),
        onPath('/refuses', () => { throw refuse(409, 'not now', { day: 'is over' }); }),
        onPath('/loops', () => { for (;;); }),
        onPath('/blocks', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }),
        onPath('/leaks', () => { const all = []; for (;;) all.push(new Array(100_000).fill(1)); }),
        onPath('/buffers', () => { const all = []; for (;;) all.push(Buffer.alloc(1_000_000, 1)); }),
        onPath('/rejects-later', async () => { Promise.reject(new Error('nobody caught this')); await wait(60_000); }),
        onPath('/exits', async () => { process.exit(3); }),
        onPath('/aborts', async () => { process.kill(process.pid, 'SIGABRT'); await wait(60_000); }),
        onPath('/env', () => [process.env.SERVICE_JWT_SECRET ?? null, process.env.EXTENSION_COLOUR ?? null]),
        onPath('/waits', async () => { await wait(300); return 'done'; }),
      ],
      crons: [cron({ name: 'nightly', schedule: '30 3 * * *', timeZone: 'Europe/Vienna', handler: () => {} })],
      events: [defineEvent({ name: 'tea.ready', description: 'Tea is ready.', schema: z.object({ cups: z.int() }), example: { cups: 2 } })],
      hooks: { '*': { beforeCreate: (write) => { write.values.seen = true; } } },
    });`,
  // Blocked rather than looping, which would take five seconds on a core.
  'blocks-at-load.ts': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
  'plain.mjs': `import { defineExtension } from '@recordbus/extensions';\nexport const extension = defineExtension({});`,
  'no-export.ts': 'export const other = 1;',
  'typo.ts': `export const extension = { hooks: { posts: { beforeCreat() {} } } };`,
  'bad-cron.ts': `export const extension = { crons: [{ name: 'x', schedule: '61 * * * *', handler() {} }] };`,
  'bad-event.ts': `import { defineEvent, defineExtension, z } from '@recordbus/extensions';
    const schema = z.object({ cups: z.int() });
    export const extension = defineExtension({ events: [defineEvent({ name: 'tea.ready', description: 'Tea.', schema, example: { cups: 'two' } as never })] });`,
  'own-event.ts': `import { defineEvent, defineExtension, z } from '@recordbus/extensions';
    export const extension = defineExtension({ events: [defineEvent({ name: 'system.tea', description: 'Tea.', schema: z.any(), example: 1 })] });`,
  'throws.ts': `throw new Error('at top level');`,
  'plain.ts': 'export const extension = {};',
  'notes.txt': 'no extension',
};

describe('the extension host', () => {
  let directory = '';
  let host: ExtensionHost;
  const call = (path: string, body?: unknown, timeoutMs = 20_000) =>
    host.call('good', {
      target: { kind: 'route', name: `${path === 'sum' ? 'POST' : 'GET'} /${path}` },
      input: { params: {}, query: {}, body, headers: {} },
      timeoutMs,
      answer: async () => undefined,
    });
  const works = async () =>
    assert.deepEqual(await call('sum', { a: 1, b: 2 }), { status: 200, headers: {}, json: '{"data":3}' });

  before(async () => {
    process.env.EXTENSION_COLOUR = 'green';
    process.env.SERVICE_JWT_SECRET = 'must not be seen by an extension!';
    directory = await mkdtemp(join(tmpdir(), 'extension-host-'));
    for (const [name, source] of Object.entries(sources)) await writeFile(join(directory, name), source);
    const log = createLogger('test', 'silent');
    host = createExtensionHost({
      directory,
      maxWorkers: 2,
      maxJobWorkers: 1,
      memoryMb: 64,
      log,
      followsChanges: false,
    });
    await host.start();
  });
  after(async () => {
    delete process.env.EXTENSION_COLOUR;
    delete process.env.SERVICE_JWT_SECRET;
    await host.stop();
    await rm(directory, { recursive: true });
  });

  it('loads TypeScript and JavaScript, and describes their declarations', () => {
    assert.deepEqual(
      host.extensions.map(({ name }) => name),
      ['good', 'plain'],
    );
    const description = host.extensions[0]?.description;
    assert.equal(description?.routes.length, 12);
    assert.deepEqual(description?.crons, [
      { name: 'nightly', schedule: '30 3 * * *', timeZone: 'Europe/Vienna', missed: 'skip', timeoutMs: 60_000 },
    ]);
    assert.deepEqual(description?.events, [
      {
        name: 'tea.ready',
        description: 'Tea is ready.',
        schema: {
          type: 'object',
          properties: { cups: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } },
          required: ['cups'],
        },
        example: { cups: 2 },
      },
    ]);
    assert.deepEqual(description?.hooks, [{ collection: '*', point: 'beforeCreate' }]);
  });

  it('reports files that do not load, and continues without them', () => {
    const problemOf = (name: string) => host.problems.find((one) => one.name === name)?.problem ?? '';
    assert.match(problemOf('blocks-at-load'), /did not load within 5000 ms/);
    assert.match(problemOf('no-export'), /exports no `extension`/);
    assert.match(problemOf('typo'), /beforeCreat/);
    assert.match(problemOf('bad-cron'), /crons\[0\]\.schedule/);
    assert.match(problemOf('bad-event'), /does not fit the schema: [\s\S]*cups/);
    assert.match(problemOf('own-event'), /is a product event/);
    assert.match(problemOf('throws'), /at top level/);
    assert.match(problemOf('plain'), /another file with this name: .*plain\.mjs/);
    assert.equal(host.problems.length, 8);
  });

  it("passes the code's refusals through unchanged", async () => {
    await assert.rejects(call('refuses'), { status: 409, message: 'not now', details: { day: 'is over' } });
    await assert.rejects(call('sum', { a: 1, b: 'x' }), { status: 422, code: 'validation_failed' });
  });

  for (const [path, status] of Object.entries({
    throws: 500,
    loops: 504,
    blocks: 504,
    leaks: 500,
    buffers: 500,
    'rejects-later': 500,
    exits: 500,
    aborts: 500,
  })) {
    it(`answers ${status} to a call that ${path}, and then works as before`, async () => {
      await assert.rejects(call(path, undefined, status === 504 ? 500 : 20_000), (error) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.status, status);
        assert.match(error.message, /the extension good/);
        return true;
      });
      await works();
    });
  }

  it('runs another call while one blocks its thread', async () => {
    const blocked = call('blocks', undefined, 3000);
    await Promise.all([assert.rejects(blocked, { status: 504 }), works()]);
  });

  it('lets calls wait for a free worker', async () => {
    assert.equal((await Promise.all([1, 2, 3, 4, 5].map(() => call('waits')))).length, 5);
  });

  it('serves further calls soon after many calls have ended their workers', async () => {
    for (let ended = 0; ended < 8; ended += 1) await assert.rejects(call('exits'), { status: 500 });
    assert.deepEqual(await call('sum', { a: 1, b: 2 }, 5000), { status: 200, headers: {}, json: '{"data":3}' });
  });

  it('shows extensions only variables with their prefix', async () => {
    assert.deepEqual(await call('env'), { status: 200, headers: {}, json: '{"data":[null,"green"]}' });
  });
});

describe('a host with many extensions', () => {
  it('limits parallel starts, so that each has time to load', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'extension-host-'));
    const diary = join(directory, 'diary.txt');
    const source = `
      import { appendFileSync } from 'node:fs';
      appendFileSync(${JSON.stringify(diary)}, '+');
      await new Promise((resolve) => setTimeout(resolve, 100));
      appendFileSync(${JSON.stringify(diary)}, '-');
      export const extension = {};`;
    const names = Array.from({ length: 5 }, (_, index) => `one-of-many-${index}`);
    for (const name of names) await writeFile(join(directory, `${name}.mjs`), source);
    const log = createLogger('test', 'silent');
    const host = createExtensionHost({
      directory,
      maxWorkers: 1,
      maxJobWorkers: 1,
      memoryMb: 64,
      log,
      followsChanges: false,
    });
    try {
      await host.start();
      assert.equal(host.extensions.length, names.length);
      let loading = 0;
      for (const sign of await readFile(diary, 'utf8')) {
        loading += sign === '+' ? 1 : -1;
        assert.ok(loading <= Math.max(2, availableParallelism()));
      }
    } finally {
      await host.stop();
      await rm(directory, { recursive: true });
    }
  });
});

describe('a host that follows changes', () => {
  it('reloads extensions whose files or imports were written, and leaves the others running', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'extension-host-'));
    const write = (name: string, source: string) => writeFile(join(directory, name), source);
    const reads = (source: string) => `
      ${source}
      import { defineExtension, route } from '@recordbus/extensions';
      const startedAt = performance.timeOrigin + performance.now();
      export const extension = defineExtension({ routes: [route({ method: 'GET', path: '/x', handler: () => [word, startedAt] })] });`;
    await write('_word.ts', `export const word = 'old';`);
    await write('alone.ts', reads(`const word = 'alone';`));
    await write('shares.ts', reads(`import { word } from './_word.ts';`));
    const log = createLogger('test', 'silent');
    const host = createExtensionHost({
      directory,
      maxWorkers: 1,
      maxJobWorkers: 1,
      memoryMb: 64,
      log,
      followsChanges: true,
    });
    await host.start();
    const call = (extension: string, name: string) =>
      host.call(extension, {
        target: { kind: 'route', name },
        input: { params: {}, query: {}, headers: {} },
        timeoutMs: 20_000,
        answer: async () => undefined,
      });
    const answersOf = async (extension: string): Promise<unknown[]> => {
      const output = await call(extension, 'GET /x');
      return JSON.parse((output as { json: string }).json).data;
    };
    const change = async (name: string, source: string | undefined) => {
      const changed = new Promise<void>((resolve) => host.onChange(resolve));
      await (source === undefined ? rm(join(directory, name)) : write(name, source));
      await changed;
    };
    const flag = join(tmpdir(), `${basename(directory)}.flag`);
    try {
      const [alone, shares] = await Promise.all([answersOf('alone'), answersOf('shares')]);
      assert.deepEqual([alone[0], shares[0]], ['alone', 'old']);
      await change('_word.ts', `export const word = 'new';`);
      assert.deepEqual(await answersOf('alone'), alone);
      assert.equal((await answersOf('shares'))[0], 'new');
      await change('shares.ts', 'export const extension = {');
      assert.equal((await answersOf('shares'))[0], 'new');
      assert.deepEqual(await answersOf('alone'), alone);
      assert.deepEqual(
        host.problems.map(({ name }) => name),
        ['shares'],
      );
      await change('shares.ts', undefined);
      await assert.rejects(answersOf('shares'), { status: 404 });
      assert.deepEqual([await answersOf('alone'), host.problems], [alone, []]);

      const dies = (word: string) => `
        import { existsSync } from 'node:fs';
        import { setTimeout as wait } from 'node:timers/promises';
        const handler = async () => { while (!existsSync(${JSON.stringify(flag)})) await wait(20); process.exit(); };
        export const extension = { routes: [
          { method: 'GET', path: '/dies', access: 'public', handler },
          { method: 'GET', path: '/x', access: 'public', handler: () => ['${word}'] },
        ] };`;
      await change('dies.ts', dies('old'));
      const dying = assert.rejects(call('dies', 'GET /dies'), { status: 500 });
      const waiting = answersOf('dies');
      await change('dies.ts', dies('new'));
      await writeFile(flag, '');
      await dying;
      assert.deepEqual(await waiting, ['new'], 'a waiting call gets another worker when its worker dies');
    } finally {
      await rm(flag, { force: true });
      await host.stop();
      await rm(directory, { recursive: true });
    }
  });
});
