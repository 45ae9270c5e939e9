import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createContextSigner } from '@recordbus/request/context';
import { createLiveReadsClient } from './live-reads-client.ts';
import type { LiveEvent } from './verdicts.ts';

const contextSigner = createContextSigner(Buffer.from('a secret for tests, over 32 characters'));
const plan = {
  key: 'k',
  request: { collection: 'posts' },
  collectionId: 'p',
  callerKind: 'guest',
  readsValues: false,
  hasCandidates: true,
  crossed: [],
};

let answer: (body: { readonly events: readonly LiveEvent[] }) => readonly [status: number, body: unknown];
const sizes: number[] = [];
const server = createServer(async (request, response) => {
  const body = (await json(request)) as { readonly events: readonly LiveEvent[] };
  sizes.push(body.events.length);
  const [status, answered] = answer(body);
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answered));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const live = createLiveReadsClient({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  contextSigner,
});

const event = (id: string, units: number): LiveEvent => ({ id, verb: 'create', version: '1', data: 'x'.repeat(units) });
const batch = { plan, client: 'c', callers: [] };

test('large batches are several requests, whose verdicts stay in order', async () => {
  answer = ({ events }) => [
    200,
    {
      data: { isStale: false, events: events.map(({ id }) => ({ before: [Number(id)], now: 'all', records: [] })) },
    },
  ];
  sizes.length = 0;
  const million = 2 ** 20;
  const events = ['1', '2', '3', '4', '5'].map((id) => event(id, 1.5 * million));
  const judged = await live.judge({ ...batch, events });
  assert.ok(!judged.isStale);
  assert.deepEqual(
    judged.events.map(({ before }) => before),
    [[1], [2], [3], [4], [5]],
  );
  assert.deepEqual(sizes, [2, 2, 1]);
  answer = () => [200, { data: { isStale: true } }];
  assert.deepEqual(await live.judge({ ...batch, events }), { isStale: true });
  answer = () => [200, { data: {} }];
  assert.equal(await live.candidates({ ...batch, events }), undefined);
});

test('a refusal is thrown unchanged; any other failure is 503', async () => {
  answer = () => [422, { error: 'takes too long', code: 'too_expensive' }];
  const judging = () => live.judge({ ...batch, events: [event('1', 1)] });
  await assert.rejects(judging, { status: 422, code: 'too_expensive', message: 'takes too long' });
  answer = () => [500, 'what?'];
  await assert.rejects(judging, { status: 503 });
  answer = () => [200, { data: null }];
  await assert.rejects(judging, { status: 503 });
  const away = createLiveReadsClient({ url: 'http://127.0.0.1:1', contextSigner });
  await assert.rejects(away.isCurrent([plan]), { status: 503 });
});
