import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { eventually } from '@recordbus/testing';

const source = (module: string) => JSON.stringify(import.meta.resolve(module));

/** A process whose routes throw where nothing catches. */
const script = `
  import { Readable } from 'node:stream';
  import { createDispatcher, route, ok } from ${source('./index.ts')};
  import { listen } from ${source('./server.ts')};
  import { createLifecycle } from ${source('@recordbus/process/lifecycle')};
  import { createLogger, setLogFormat } from ${source('@recordbus/process/logging')};
  import { guarded } from ${source('@recordbus/request/request-scope')};
  setLogFormat('json');
  const log = createLogger('test', 'info');
  createLifecycle({ log });
  const fail = (what) => { throw new Error(what); };
  const never = () => new Promise(() => {});
  const later = (path, handler, rest = {}) => route({ method: 'POST', path: '/' + path, access: 'public', scope: 'any', summary: path, answers: {}, ...rest,
    handler: async (input) => (await handler(input)) ?? ok({}) });
  const streamed = { streamedBody: { 'text/plain': {} } };
  const routes = [
    later('works', () => {}),
    later('timer', () => { setTimeout(fail, 5, 'timer'); return never(); }),
    later('immediate', () => { setImmediate(fail, 'immediate'); return never(); }),
    later('rejection', () => { void Promise.reject(new Error('rejection')); return never(); }),
    later('stream', () => { new Readable({ read() {} }).destroy(new Error('stream')); return never(); }),
    later('body', ({ stream }) => { let n = 0; stream.on('data', guarded(() => { n += 1; if (n === 2) fail('body'); })); return never(); }, streamed),
    later('answered', () => { setTimeout(fail, 20, 'answered'); }),
  ];
  const handle = createDispatcher(routes, { log, mapError: () => undefined });
  const server = await listen((request, response) => {
    const context = { requestId: request.url.slice(1), traceparent: '00-' + 'a'.repeat(32) + '-b-00', clientAddress: '127.0.0.1',
      principal: { type: 'guest', rejectedToken: false } };
    if (request.url === '/outside') setTimeout(fail, 5, 'outside');
    else void handle(request, response, context);
  }, { port: 0, host: '127.0.0.1', log });
  console.log(JSON.stringify({ url: server.url }));
`;

interface Line {
  readonly url?: string;
  readonly level?: string | number;
  readonly request_id?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string };
}

describe('an error that nothing catches', () => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Line[] = [];
  let url = '';

  before(async () => {
    const reader = createInterface(child.stdout);
    const { promise: begun, resolve, reject } = Promise.withResolvers<string>();
    child.once('exit', () => reject(new Error('the process ended before it listened')));
    reader.on('line', (line) => {
      const read: Line = JSON.parse(line);
      lines.push(read);
      if (read.url !== undefined && read.level === undefined) resolve(read.url);
    });
    url = await begun;
  });
  after(() => child.kill('SIGKILL'));

  /** Sends a body in two pieces. */
  async function send(path: string): Promise<{ status: number | undefined; text: string }> {
    const sending = request(`${url}/${path}`, { method: 'POST', headers: { 'Content-Type': 'text/plain' } });
    sending.write('one');
    setTimeout(() => sending.end('two'), 20);
    const [answer] = await once(sending, 'response');
    let text = '';
    for await (const chunk of answer) text += chunk;
    return { status: answer.statusCode, text };
  }

  for (const path of ['timer', 'immediate', 'rejection', 'stream', 'body'])
    it(`fails its callback's request: ${path}`, async () => {
      const { status, text } = await send(path);
      assert.deepEqual([status, JSON.parse(text).code], [500, 'internal_error'], text);
      assert.equal((await send('works')).status, 200);
      const line = await eventually(() => lines.find(({ request_id }) => request_id === path));
      assert.deepEqual([line.msg, line.err?.message], ['an uncaught error failed its request', path]);
      assert.ok(line.level === 'error' || line.level === 50, JSON.stringify(line));
    });

  it('is logged when its request was answered', async () => {
    assert.equal((await send('answered')).status, 200);
    await eventually(() => lines.some(({ request_id }) => request_id === 'answered'));
    assert.equal(child.exitCode, null);
  });

  it('ends the process outside a request', async () => {
    const ended = once(child, 'close');
    await send('outside').catch(() => {});
    assert.deepEqual(await ended, [1, null]);
    assert.ok(lines.some(({ msg, err }) => msg === 'uncaught error' && err?.message === 'outside'));
  });
});
