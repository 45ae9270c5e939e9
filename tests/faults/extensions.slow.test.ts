import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { logLines } from '../harness/processes/logs.ts';
import { onOneProcess, stackEnvironment } from '../harness/stacks/target.ts';

stackEnvironment.SERVICE_EXTENSIONS_DIR = fileURLToPath(new URL('../extensions/faulty', import.meta.url));

onOneProcess("an extension's faulty code harms only its own call", async (t, target) => {
  const get = (path: string) => target.guest.get(`/api/x/faulty/${path}`);
  const named = (path: string) =>
    logLines(target.logLines).filter(({ extension, level }) => extension === 'faulty' && level === 'error').length >
      0 || assert.fail(`no error in the log names the extension of ${path}`);

  await t.test('an extension that does not load is named in the log, and the others work', async () => {
    assert.equal((await get('well')).status, 200);
    const [line] = logLines(target.logLines).filter(({ extension }) => extension === 'never-loads');
    assert.match(String(line?.problem ?? line?.reason), /did not load within 5000 ms/);
  });

  for (const [path, status, code] of [
    ['loops', 504, 'extension_timeout'],
    ['hangs', 504, 'extension_timeout'],
    ['eats', 500, 'extension_failed'],
    ['eats-at-once', 500, 'extension_failed'],
    ['throws', 500, 'extension_failed'],
    ['rejects-later', 500, 'extension_failed'],
    ['throws-later', 500, 'extension_failed'],
    ['answers-much', 500, 'extension_failed'],
    ['never-ends', 504, 'extension_timeout'],
    ['exits', 500, 'extension_failed'],
    ['circular', 500, 'extension_failed'],
  ] as const) {
    await t.test(`${status}: a route that ${path}`, async () => {
      const answer = await get(path);
      assert.equal(answer.status, status, answer.text);
      assert.equal(at(answer.json, 'code'), code);
      assert.doesNotMatch(answer.text, /secret|\.ts/);
      await eventually('the log has the reason', () => named(path));
      assert.equal((await get('well')).status, 200);
    });
  }

  const ofFaulty = () => logLines(target.logLines).filter(({ extension }) => extension === 'faulty');

  await t.test('a rejection after the answer ends the worker, and the next call gets another one', async () => {
    const answer = await get('rejects-after');
    assert.deepEqual([answer.status, at(answer.json, 'data')], [200, 'answered']);
    await eventually('the worker ends', () => ofFaulty().some(({ reason }) => /after the answer/.test(String(reason))));
    assert.equal((await get('well')).status, 200);
  });

  await t.test('endless log output is truncated, with a count of dropped lines', async () => {
    const before = ofFaulty().length;
    assert.equal(at((await get('logs')).json, 'data'), 'logged');
    const line = await eventually('the number of dropped lines is logged', () =>
      ofFaulty().find(({ msg }) => /^\d+ lines were omitted from the log$/.test(String(msg))),
    );
    assert.equal(line.level, 'warn');
    assert.ok(ofFaulty().length - before < 25_000);
    assert.equal((await get('well')).status, 200);
  });

  const odd = (path: string) => target.guest.get(`/api/x/odd/${path}`);
  const ofOdd = () => logLines(target.logLines).filter(({ extension }) => extension === 'odd');

  for (const [path, status, reason] of [
    ['answers-a-function', 500, /a function cannot be written as JSON/],
    ['answers-a-bigint', 500, /BigInt/],
    ['answers-wrong-headers', 500, /Invalid character in header content \["x-note"\]/],
    ['throws-nothing', 500, /threw \[Object: null prototype\] \{\}/],
    ['throws-a-trap', 500, /route GET \/odd\/throws-a-trap/],
    ['refuses-with-a-fraction', 500, /refused with 404.5, which is not a refusal status/],
    ['asks-with-much', 500, /http\.fetch: the arguments have more than 16777216 bytes/],
  ] as const) {
    await t.test(`${status}: a route that ${path}, with the reason in the log`, async () => {
      const answer = await odd(path);
      assert.equal(answer.status, status, answer.text);
      assert.equal(at(answer.json, 'code'), 'extension_failed');
      await eventually('the log has the reason', () =>
        ofOdd().some((line) => reason.test(JSON.stringify(line).replaceAll('\\"', '"'))),
      );
      assert.equal((await odd('well')).status, 200);
    });
  }

  await t.test("a refusal's details that are not texts become texts", async () => {
    const answer = await odd('refuses-with-a-function');
    assert.deepEqual([answer.status, at(answer.json, 'details')], [422, { count: '7' }]);
  });

  await t.test('values that cannot be stored and invalid arguments are refused with a message', async () => {
    const { json } = await odd('kv');
    const refused = (value: string) => ({ status: 422, message: 'validation failed', details: { value } });
    const notStored = refused('must not contain NUL or half a surrogate pair');
    assert.deepEqual(at(json, 'data'), {
      NUL: notStored,
      'half a character': notStored,
      sum: refused('would be too large'),
      key: { status: 400, message: 'kv.get: argument 1: must not be empty' },
    });
  });

  await t.test("a replaced JSON.stringify or a message to the worker's port has no effect", async () => {
    for (const [path, data] of Object.entries({
      'changes-json': { whole: true },
      'says-rubbish': 'said',
      well: 'well',
    }))
      assert.deepEqual(at((await odd(path)).json, 'data'), data);
  });

  await t.test("output to the process's streams is logged", async () => {
    await odd('writes');
    for (const [level, msg] of [
      ['info', 'to standard output'],
      ['error', 'to standard error'],
    ])
      await eventually(msg ?? '', () => ofOdd().some((line) => line.level === level && line.msg === msg));
  });

  await t.test('a log line names its own extension, even if its fields name another', async () => {
    await odd('logs-as-another');
    const line = await eventually('the line is logged', () => ofOdd().find(({ msg }) => msg === 'as myself'));
    const { level, service, level_, service_, extension_, colour } = line;
    assert.deepEqual(
      { level, service, level_, service_, extension_, colour },
      { level: 'info', service: 'records', level_: 'fatal', service_: 'gateway', extension_: 'another', colour: 'red' },
    );
  });

  await t.test('2,000 parallel requests by one call do not block others', async () => {
    // On a busy machine the other call may start late, so it has several chances.
    await eventually('another call is answered before the requests end', async () => {
      let isDone = false;
      const calling = odd('asks-much').then(() => {
        isDone = true;
      });
      assert.equal((await odd('kv')).status, 200);
      const wasFirst = !isDone;
      await calling;
      return wasFirst;
    });
  });

  await t.test('a loop that an answered call leaves behind fails no other call', async () => {
    assert.equal(at((await odd('loops-after')).json, 'data'), 'answered');
    // A call that is sent to the looping worker gets another worker.
    assert.equal((await odd('well')).status, 200);
    await eventually('the worker ends', () =>
      ofOdd().some(({ reason }) => /an earlier call.s code/.test(String(reason))),
    );
  });

  await t.test('100 parallel hanging calls time out', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => get('hangs')));
    const statuses = new Set(answers.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [503, 504]);
    assert.equal((await get('well')).status, 200);
  });

  await t.test('other calls are answered while one loops', async () => {
    const [loop, ...others] = await Promise.all([
      get('loops'),
      get('well'),
      get('well'),
      target.guest.get('/api/v1/health'),
    ]);
    assert.equal(loop.status, 504);
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200],
    );
  });

  const admin = await target.admin();
  const fields = [{ name: 'note', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'faulty_orders', type: 'base', fields });
  const create = (note: string) => target.guest.send('POST', '/api/v1/faulty_orders', { body: { note } });
  const notes = async () =>
    listAt((await admin.get('/api/v1/faulty_orders?perPage=100')).json, 'data').map(({ note }) => note);

  for (const [note, status] of [
    ['throws', 500],
    ['loops', 504],
    ['runs in circles', 500],
  ] as const) {
    await t.test(`${status}: a before hook that ${note} writes nothing`, async () => {
      const answer = await create(note);
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(await notes(), []);
    });
  }

  for (const [how, status, code] of [
    ['loops', 504, 'extension_timeout'],
    ['hangs', 504, 'extension_timeout'],
    ['exits', 500, 'extension_failed'],
    ['leaves', 200, undefined],
    ['outlasts', 504, 'upstream_timeout'],
  ] as const) {
    await t.test(
      `${status}: the transaction in a route that ${how} is rolled back, and its rows are free`,
      async () => {
        const { id } = await admin.create('faulty_orders', { note: 'before' });
        const held = target.guest.send('POST', `/api/x/faulty/holds/${how}`, { body: { id } });
        await eventually('it holds the record', () => ofFaulty().some(({ msg }) => msg === `${how} holds a record`));
        // Waits for the lock, which the transaction releases after at most 5 seconds.
        await admin.patch(`/api/v1/faulty_orders/${id}`, { note: 'free' });
        const answer = await held;
        assert.deepEqual([answer.status, at(answer.json, 'code')], [status, code], answer.text);
        assert.equal(at((await admin.get(`/api/v1/faulty_orders/${id}`)).json, 'data.note'), 'free');
        await admin.delete(`/api/v1/faulty_orders/${id}`);
      },
    );
  }

  await t.test('hanging transactions do not block writes without hooks', async () => {
    const orders = await Promise.all(['a', 'b', 'c', 'd'].map((note) => admin.create('faulty_orders', { note })));
    await admin.post('/api/v1/collections', { name: 'faulty_besides', type: 'base', fields });
    const hanging = Promise.all(
      orders.map(({ id }) => target.guest.send('POST', '/api/x/faulty/holds/hangs', { body: { id } })),
    );
    for (let made = 0; made < 20; made += 1) await admin.create('faulty_besides', { note: `note ${made}` });
    assert.deepEqual(new Set((await hanging).map(({ status }) => status)), new Set([504]));
    for (const { id } of orders) await admin.delete(`/api/v1/faulty_orders/${id}`);
    await admin.delete('/api/v1/collections/faulty_besides');
  });

  await t.test('100 parallel writes with hanging hooks do not block others', async () => {
    await admin.post('/api/v1/collections', { name: 'faulty_others', type: 'base', fields });
    const hanging = Promise.all(Array.from({ length: 100 }, () => create('hangs')));
    for (let made = 0; made < 20; made += 1) await admin.create('faulty_others', { note: `note ${made}` });
    const statuses = new Set((await hanging).map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [503, 504]);
    assert.deepEqual(await notes(), []);
    await admin.delete('/api/v1/collections/faulty_others');
  });

  await t.test('work that a hook does not await is still part of the write', async () => {
    assert.equal((await create('leaves work behind')).status, 201);
    assert.equal((await create('fine')).status, 201);
    assert.deepEqual(new Set(await notes()), new Set(['leaves work behind', 'left behind', 'fine']));
  });

  await t.test('504: a delete whose hooks never end is rolled back', async () => {
    const order = { name: 'order', type: 'relation', collection: 'faulty_orders', options: { cascade: 'cascade' } };
    await admin.post('/api/v1/collections', { name: 'faulty_parts', type: 'base', fields: [order] });
    const { id } = await admin.create('faulty_orders', { note: 'with a part' });
    await admin.create('faulty_parts', { order: id });
    assert.equal((await admin.send('DELETE', `/api/v1/faulty_orders/${id}`)).status, 504);
    assert.equal((await admin.get(`/api/v1/faulty_orders/${id}`)).status, 200);
    assert.equal(at((await admin.get('/api/v1/faulty_parts')).json, 'totalItems'), 1);
    await admin.delete('/api/v1/collections/faulty_parts');
  });
  await admin.delete('/api/v1/collections/faulty_orders');
});
