import assert from 'node:assert/strict';
import { type Client, createClient, f, RecordbusError } from '@recordbus/client';
import { eventually } from '../harness/eventually.ts';
import { startLosingProxy } from '../harness/network/losing-proxy.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { type Library, openLibrary } from './library.ts';

const refusalOf = (promise: Promise<unknown>): Promise<RecordbusError> =>
  promise.then(
    () => assert.fail('there was no error'),
    (error) => {
      assert.ok(error instanceof RecordbusError, String(error));
      return error;
    },
  );

const tagsNamed = async (client: Client<Library>, name: string): Promise<number> =>
  (await client.from('tags').list({ filter: f`name ~ ${name}` })).totalItems;

onEachTopology('the client sends again what is safe to send again', async (t, target) => {
  const { guest } = await openLibrary(target);

  await t.test('writes no record twice when every third answer to a create is lost', async () => {
    await using proxy = await startLosingProxy(target.url, (_, number) => (number % 3 === 0 ? 'lose' : 'pass'));
    const client = createClient<Library>(proxy.url);
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    await Promise.all(numbers.map((number) => client.from('tags').create({ name: `third ${number}.` })));
    assert.ok(proxy.requests.length > 80, `${proxy.requests.length} requests`);
    assert.equal(await tagsNamed(guest, 'third'), numbers.length);
    for (const number of [0, 30, 59]) assert.equal(await tagsNamed(guest, `third ${number}.`), 1);
  });

  await t.test('does not repeat updates, deletes and batches either', async () => {
    await using proxy = await startLosingProxy(target.url, (request, number) =>
      /^(PATCH|DELETE|POST)/.test(request) && number % 2 === 1 ? 'lose' : 'pass',
    );
    const client = createClient<Library>(proxy.url);
    const book = await client.from('books').create({ title: 'Once', stars: 0 });
    const changed = await client.from('books').update(book, { stars: { $add: 1 } });
    assert.equal(changed.stars, 1);
    const [added] = await client.batch(
      (batch) => [batch.from('books').update(changed, { stars: { $add: 1 } })] as const,
    );
    assert.equal(added.stars, 2);
    await client.from('books').delete(added);
    assert.equal((await refusalOf(guest.from('books').get(book.id))).status, 404);
    assert.deepEqual(
      proxy.requests.map((request) => request.split(' ')[0]),
      ['POST', 'POST', 'PATCH', 'PATCH', 'POST', 'POST', 'DELETE', 'DELETE'],
    );
  });

  await t.test('retries at most four times, then reports why it stopped', async () => {
    await using proxy = await startLosingProxy(target.url, () => ({ status: 503, headers: { 'Retry-After': '0' } }));
    const client = createClient<Library>(proxy.url);
    const refusal = await refusalOf(client.from('tags').create({ name: 'never' }));
    assert.deepEqual([refusal.status, refusal.code, proxy.requests.length], [503, 'unexpected_answer', 5]);
    assert.equal(await tagsNamed(guest, 'never'), 0);
  });

  await t.test('waits as long as a server asks, but not for minutes', async () => {
    const waits = ['1', '3600'];
    await using proxy = await startLosingProxy(target.url, (_, number) => {
      const wait = waits[number - 1];
      return wait === undefined ? 'pass' : { status: 503, headers: { 'Retry-After': wait } };
    });
    const begunAtMs = performance.now();
    const refusal = await refusalOf(createClient<Library>(proxy.url).from('tags').list());
    assert.ok(performance.now() - begunAtMs >= 1000);
    assert.deepEqual([refusal.retryAfterMs, proxy.requests.length], [3_600_000, 2]);
  });

  await t.test('does not repeat unsafe requests', async () => {
    await using proxy = await startLosingProxy(target.url, () => 'lose');
    const call = { method: 'POST', path: '/api/v1/files/token', values: {} } as const;
    assert.equal((await refusalOf(createClient(proxy.url).request(call))).code, 'network');
    assert.equal(proxy.requests.length, 1);
  });

  // Without the abort, it waits fifty seconds.
  await t.test('stops at once when it is aborted, even while it waits', { timeout: 40_000 }, async () => {
    await using proxy = await startLosingProxy(target.url, () => ({ status: 503, headers: { 'Retry-After': '50' } }));
    const stop = new AbortController();
    const refused = refusalOf(createClient<Library>(proxy.url).from('tags').list({ signal: stop.signal }));
    await eventually('the first answer has come', () => proxy.requests.length === 1);
    stop.abort('enough');
    const refusal = await refused;
    assert.deepEqual([refusal.code, refusal.cause], ['aborted', 'enough']);
    assert.equal(proxy.requests.length, 1);
  });
});
