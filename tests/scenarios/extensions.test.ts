import assert from 'node:assert/strict';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, numberAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { startPushServer } from '../harness/push-server.ts';
import { startReceiver } from '../harness/receiver.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology, stackEnvironment, type Target } from '../harness/target.ts';
import { createWebhook } from '../harness/webhook.ts';

stackEnvironment.SERVICE_EXTENSIONS_DIR = fileURLToPath(new URL('../extensions/working', import.meta.url));
stackEnvironment.EXTENSION_COLOUR = 'green';
const push = await startPushServer();
stackEnvironment.SERVICE_ONESIGNAL_URL = push.url;
after(() => push[Symbol.asyncDispose]());

const spec = 'issue 7';
const name = (field: string) => ({ name: field, type: 'text' });

onEachTopology('routes of extensions', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'shop_stock', type: 'base', fields: [] });
  await admin.post('/api/v1/collections', { name: 'shop_private', type: 'base', fields: [], list_rule: '' });
  await admin.create('shop_private', {});
  const { id } = await target.user();
  const get = (path: string, status: number, json: unknown, as?: Scenario['as']): Scenario => ({
    name: path,
    ...(as && { as }),
    request: `GET /api/x/shop/${path}`,
    expect: { status, ...(json !== undefined && { json }) },
    spec,
  });
  const quote = (label: string, path: string, body: unknown, expect: Scenario['expect']): Scenario => ({
    name: label,
    request: `POST /api/x/shop/quotes/${path}`,
    ...(body !== undefined && { body }),
    expect,
    spec,
  });
  await runScenarios(t, target, [
    quote(
      'is read by its schemas',
      'tea?currency=USD',
      { amount: 2 },
      { status: 200, json: { data: { price: 6, currency: 'USD' } } },
    ),
    quote(
      'has the defaults of its schemas',
      'tea',
      { amount: 1 },
      { status: 200, json: { data: { price: 3, currency: 'EUR' } } },
    ),
    quote('a path that does not fit', 'a', { amount: 1 }, refused.malformedWith({ item: is.text })),
    quote('a query that does not fit', 'tea?currency=XXX', { amount: 1 }, refused.malformedWith({ currency: is.text })),
    quote('a body that does not fit', 'tea', { amount: -1 }, refused.invalid('amount')),
    quote('a body that is none', 'tea', undefined, refused.invalid('amount')),
    quote('a body that is a list', 'tea', [], refused.malformed),
    {
      ...quote('another method', 'tea', undefined, refused.methodNotAllowed('POST')),
      request: 'DELETE /api/x/shop/quotes/tea',
    },
    { ...quote('a path that nobody has', 'tea', undefined, refused.notFound), request: 'GET /api/x/shop/nowhere' },
    { ...get('me', 200, undefined), ...refusedFor('guest', '/api/x/shop/me', refused.unauthenticated) },
    get('me', 200, { data: is.containing({ type: 'user', id, collection: 'members', anonymous: false }) }, 'user'),
    get('me', 200, { data: is.containing({ type: 'admin' }) }, 'admin'),
    { ...get('admins', 403, undefined), ...refusedFor('user', '/api/x/shop/admins', refused.forbidden) },
    get('admins', 200, { data: 'for admins' }, 'admin'),
    get('ruled?word=please', 200, { data: 'let through' }, 'user'),
    get('ruled', 200, { data: 'let through' }, 'admin'),
    {
      ...get('ruled?word=now', 403, undefined),
      ...refusedFor('user', '/api/x/shop/ruled?word=now', refused.forbidden),
    },
    {
      ...get('ruled?word=please', 403, undefined),
      ...refusedFor('guest', '/api/x/shop/ruled?word=please', refused.forbidden),
    },
    {
      ...get('teapot', 203, { data: 'black' }),
      headers: { 'X-Tea': 'black', Cookie: 'a=b' },
      expect: {
        status: 203,
        headers: {
          'x-pot': 'short and stout',
          'content-type': 'application/json; charset=utf-8',
          vary: 'Origin, X-Tea',
          'x-frame-options': 'DENY',
          'access-control-allow-origin': null,
        },
      },
    },
    get('refuses', 402, { error: 'pay first', code: 'refused' }),
    get('nothing', 200, { data: null }),
    get('as/admin', 200, { data: 1 }),
    { ...get('as/guest', 403, undefined), ...refusedFor('guest', '/api/x/shop/as/guest', refused.forbidden) },
    { ...get('as/caller', 403, undefined), ...refusedFor('user', '/api/x/shop/as/caller', refused.forbidden) },
    get('as/caller', 200, { data: 1 }, 'admin'),
    { ...get('missing', 404, undefined), expect: refused.notFound },
  ]);
  await admin.delete('/api/v1/collections/shop_stock');
});

const refusedFor = (as: Scenario['as'], path: string, expect: Scenario['expect']) => ({
  name: `${path} is not for a ${as}`,
  ...(as && { as }),
  request: `GET ${path}`,
  expect,
});

onEachTopology('before hooks', async (t, target) => {
  const admin = await target.admin();
  const number = (field: string) => ({ name: field, type: 'number' });
  await admin.post('/api/v1/collections', {
    name: 'shop_orders',
    type: 'base',
    fields: [{ ...name('code'), required: true }, name('item'), number('amount'), number('price'), name('note')],
    update_rule: '@request.query.word = "please"',
  });
  await admin.post('/api/v1/collections', {
    name: 'shop_stock',
    type: 'base',
    fields: [{ ...name('item'), options: { unique: true } }, number('left'), number('price')],
  });
  const tea = await admin.create('shop_stock', { item: 'tea', left: 10, price: 3 });
  const final = await admin.create('shop_orders', { code: 'final', item: 'tea', amount: 1 });
  const keep = await admin.create('shop_orders', { code: 'keep', item: 'tea', amount: 1 });
  const open = await admin.create('shop_orders', { code: 'open', item: 'tea', amount: 1 });
  const left = async () => numberAt((await admin.get(`/api/v1/shop_stock/${tea.id}`)).json, 'data.left');
  const create = (
    label: string,
    body: object,
    expect: Scenario['expect'],
    events: Scenario['events'] = [],
  ): Scenario => ({
    name: label,
    request: 'POST /api/v1/shop_orders',
    body: { code: 'a', item: 'tea', amount: 1, ...body },
    expect,
    events,
    spec,
  });
  const order = (members: Readonly<Record<string, unknown>>) => ({ data: is.containing(members) });
  assert.equal(await left(), 7);
  await runScenarios(t, target, [
    create(
      'change the values, and write other records in the same transaction',
      { amount: 2 },
      { status: 201, json: order({ code: 'A', amount: 2, price: 6 }) },
      ['shop_orders.create', 'shop_stock.update'],
    ),
    create('refuse with messages of fields', { amount: 13 }, { ...refused.invalid('amount') }),
    create('refuse what they look up', { item: 'coffee' }, refused.invalid('item')),
    create('of other records refuse as well', { amount: 100 }, refused.invalid('left')),
    create('take everything back when they refuse late', { note: 'fails after the stock' }, refused.conflict),
    create('are not asked of a body that is wrong', { amount: 'many' }, refused.invalid('amount')),
    create('of all collections refuse', { note: 'from nobody' }, refused.forbidden),
    create(
      'may catch what a write of theirs is refused with',
      { note: 'catches' },
      { status: 201, json: order({ note: 'catches' }) },
      ['shop_orders.create', 'shop_stock.update'],
    ),
    {
      name: 'know the record that is changed',
      as: 'admin',
      request: `PATCH /api/v1/shop_orders/${open.id}`,
      body: { amount: 5 },
      expect: { status: 200, json: order({ code: 'OPEN', amount: 5, note: 'was OPEN' }) },
      events: ['shop_orders.update'],
      spec,
    },
    {
      name: 'stand behind the rule',
      request: `PATCH /api/v1/shop_orders/${final.id}`,
      body: { amount: 5 },
      expect: refused.forbidden,
      spec,
    },
    {
      name: 'refuse a change',
      request: `PATCH /api/v1/shop_orders/${final.id}?word=please`,
      body: { amount: 5 },
      expect: refused.conflict,
      spec,
    },
    {
      name: 'stand behind If-Match',
      as: 'admin',
      request: `PATCH /api/v1/shop_orders/${final.id}`,
      headers: { 'If-Match': 'W/"1"' },
      body: { amount: 5 },
      expect: { status: 412 },
      spec,
    },
    {
      name: 'refuse a delete',
      request: `DELETE /api/v1/shop_orders/${keep.id}`,
      expect: refused.conflict,
      spec,
    },
    {
      name: 'let a delete through',
      request: `DELETE /api/v1/shop_orders/${open.id}`,
      expect: { status: 200, json: { data: null } },
      events: ['shop_orders.delete'],
      spec,
    },
    {
      name: 'are not asked about a record that is not there',
      request: `DELETE /api/v1/shop_orders/${open.id}`,
      expect: refused.notFound,
      spec,
    },
  ]);
  assert.equal(await left(), 4);
  await t.test('are asked once for an idempotency key', async () => {
    const send = () =>
      target.guest.send('POST', '/api/v1/shop_orders', {
        headers: { 'X-Service-Idempotency-Key': 'once' },
        body: { code: 'once', item: 'tea', amount: 1 },
      });
    assert.equal((await send()).status, 201);
    assert.equal((await send()).headers['idempotency-replayed'], 'true');
    assert.equal(await left(), 3);
  });
  await t.test('of writes at once each see what the other left', async () => {
    const body = { code: 'race', item: 'tea', amount: 1 };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => target.guest.send('POST', '/api/v1/shop_orders', { body })),
    );
    const made = answers.filter(({ status }) => status === 201).length;
    assert.equal(await left(), 3 - made);
  });
  for (const collection of ['shop_orders', 'shop_stock']) await admin.delete(`/api/v1/collections/${collection}`);
});

onEachTopology('after hooks', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'ledger', type: 'base', fields: [name('entry')] });
  await admin.post('/api/v1/collections', {
    name: 'ledger_items',
    type: 'base',
    fields: [name('title'), name('body')],
  });
  const entries = async () =>
    listAt((await admin.get('/api/v1/ledger?perPage=1000')).json, 'data').map(({ entry }) => String(entry));
  const entry = (text: string) =>
    eventually(`the entry ${text}`, async () => (await entries()).includes(text) || undefined, { timeoutMs: 20_000 });

  await t.test('are told of what was written, by whom', async () => {
    const made = await target.guest.send('POST', '/api/v1/ledger_items', { body: { title: 'one' } });
    await entry('made one by guest');
    const path = `/api/v1/ledger_items/${at(made.json, 'data.id')}`;
    await admin.patch(path, { title: 'two' });
    await entry('one to two: title');
    await admin.delete(path);
    await entry('gone two');
  });
  await t.test('are called again until they succeed', async () => {
    await admin.create('ledger_items', { title: 'at the third try' });
    await entry('made at the third try by admin');
  });
  await t.test('get what is too large for a message whole', async () => {
    await admin.create('ledger_items', { title: 'large', body: 'x'.repeat(900_000) });
    const { id } = await admin.create('ledger_items', { title: 'larger', body: 'x'.repeat(900_000) });
    await admin.patch(`/api/v1/ledger_items/${id}`, { body: 'y'.repeat(900_000) });
    await entry('larger to larger: body');
  });
  await t.test('have each event once', async () => {
    const found = await entries();
    assert.deepEqual(new Set(found).size, found.length);
  });
  for (const collection of ['ledger', 'ledger_items']) await admin.delete(`/api/v1/collections/${collection}`);
});

onEachTopology('hooks of sign-ins', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'door_users', type: 'auth' });
  const password = 'correct horse battery staple';
  const send = (flow: string, email: string) =>
    target.guest.send('POST', `/api/v1/auth/door_users/${flow}`, { body: { email, password } });
  const told = (userId: unknown, flow: string) =>
    eventually(
      `the hook is told of ${flow}`,
      async () => {
        const seen = at((await target.guest.get(`/api/x/door/${userId}`)).json, 'data');
        return (Array.isArray(seen) && seen.includes(flow)) || undefined;
      },
      { timeoutMs: 20_000 },
    );

  await t.test('after one has worked, by its flow', async () => {
    const registered = await send('register', 'ada@example.com');
    assert.equal(registered.status, 201, registered.text);
    const id = at(registered.json, 'data.record.id');
    await told(id, 'register');
    assert.equal((await send('login', 'ada@example.com')).status, 200);
    await told(id, 'password');
  });
  await t.test('before one, with a refusal and its fields', async () => {
    const answer = await send('register', 'eve@blocked.example');
    assert.deepEqual(
      [answer.status, answer.json],
      [403, { error: 'not here', code: 'forbidden', details: { email: 'is blocked' } }],
    );
    assert.equal((await send('login', 'eve@blocked.example')).status, 403);
  });
  await t.test('not for other collections', async () => {
    await admin.post('/api/v1/collections', { name: 'door_others', type: 'auth' });
    const body = { email: 'eve@blocked.example', password };
    assert.equal((await target.guest.send('POST', '/api/v1/auth/door_others/register', { body })).status, 201);
  });
  await t.test('asked by no client', async () => {
    assert.equal((await target.guest.send('POST', '/internal/sign-in-hooks', { body: {} })).status, 404);
  });
});

onEachTopology('the tools of extensions', async (t, target) => {
  const admin = await target.admin();
  await using receiver = await startReceiver();
  await createWebhook(admin, receiver.url, ['*']);
  const tool = (label: string, request: string, expect: Scenario['expect'], body?: object): Scenario => ({
    name: label,
    as: 'admin',
    request,
    ...(body && { body }),
    expect,
    spec,
  });
  const fetching = (label: string, body: object, expect: Scenario['expect']) =>
    tool(label, 'POST /api/x/tools/fetch', expect, body);
  const notify = (label: string, body: object, expect: Scenario['expect']) =>
    tool(label, 'POST /api/x/tools/notify', expect, body);
  const failed = (code: string) => ({ status: 502, json: { error: is.text, code } });
  await runScenarios(t, target, [
    fetching('a fetch', { url: receiver.url }, { status: 200, json: { data: { status: 200, text: '' } } }),
    fetching('a fetch of what egress denies', { url: 'http://10.0.0.1/' }, failed('egress_blocked')),
    fetching('a fetch of no URL', { url: 'nowhere' }, failed('fetch_failed')),
    fetching('a fetch with a timeout that is none', { url: receiver.url, timeoutMs: -1 }, refused.malformed),
    tool('a setting', 'GET /api/x/tools/settings/hooks.http.allow', { status: 200, json: { data: '127.0.0.0/8' } }),
    tool('a secret setting', 'GET /api/x/tools/settings/smtp.pass', refused.forbidden),
    tool('an unknown setting', 'GET /api/x/tools/settings/no.such', refused.notFound),
    tool('the environment', 'GET /api/x/tools/env', {
      status: 200,
      json: { data: { colour: 'green', secret: 'none' } },
    }),
    tool(
      'mail without a mail server',
      'POST /api/x/tools/mail',
      { status: 422, json: { error: is.text, code: 'mail_not_configured' } },
      { to: 'ada@example.com' },
    ),
    tool('values', 'GET /api/x/tools/kv', {
      status: 200,
      json: {
        data: { a: { deep: [1, 2] }, first: true, second: false, count: 3, b: null, keys: ['a', 'count', 'once'] },
      },
    }),
    notify('a notification without a provider', { to: ['phone'], title: 'Hello' }, refused.invalid('provider')),
    tool(
      'a provider',
      'PATCH /api/v1/admin/settings',
      { status: 200 },
      {
        'notifications.providers.onesignal.enabled': '1',
        'notifications.providers.onesignal.app_id': push.appId,
        'notifications.providers.onesignal.api_key': push.apiKey,
      },
    ),
    notify('a notification without a title', { to: ['phone'], title: '' }, refused.invalid('title')),
    tool('a value that is too large', 'GET /api/x/tools/big', refused.invalid('value')),
  ]);
  await t.test('a notification is sent, with a result for each target', async () => {
    const sent = await eventually('the provider is known', async () => {
      const answer = await admin.send('POST', '/api/x/tools/notify', {
        body: { to: ['phone', 'gone'], title: 'Hello' },
      });
      return answer.status === 200 ? answer : undefined;
    });
    assert.deepEqual(
      listAt(sent.json, 'data.results').map(({ target, status }) => [target, status]),
      [
        ['phone', 'sent'],
        ['gone', 'invalid'],
      ],
    );
  });
  await t.test('of many who set a value that is absent, one does', async () => {
    const race = () => admin.send('POST', '/api/x/tools/kv-race');
    const answers = await Promise.all([race(), race(), race(), race(), race(), race()]);
    assert.equal(answers.filter(({ json }) => at(json, 'data') === true).length, 1);
  });
  await customEvents(t, target, receiver);
});

/** Any name that is text reaches webhooks as it is; what can't be one is 422. */
async function customEvents(
  t: Parameters<Parameters<typeof onEachTopology>[1]>[0],
  target: Target,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Promise<void> {
  const admin = await target.admin();
  const dispatch = (event: string) =>
    admin.send('POST', '/api/x/tools/dispatch', { body: { event, payload: { of: event } } });
  const good = [
    'order.shipped',
    'order shipped',
    'bestellung.übergeben.📦',
    '*',
    'orders.>',
    '..',
    'a'.repeat(255),
    '$%&/"\\',
    'posts.create',
  ];
  const listened = ['order shipped', 'bestellung.übergeben.📦'];
  await createWebhook(admin, `${receiver.url}/exact`, listened);
  for (const event of good)
    await t.test(`a custom event ${event.slice(0, 40)} reaches webhooks by its exact name`, async () => {
      const answer = await dispatch(event);
      assert.equal(answer.status, 200, answer.text);
      const delivery = await eventually('its delivery', () =>
        receiver.deliveries.find(({ json }) => json.id === at(answer.json, 'data.id')),
      );
      assert.equal(delivery.json.event, event);
      assert.deepEqual(delivery.json.data, { of: event });
    });
  await t.test('a webhook listens to custom events by their exact names', async () => {
    const exact = () => receiver.deliveries.filter(({ path }) => path === '/hook/exact').map(({ json }) => json.event);
    await eventually('their deliveries', () => exact().length === listened.length);
    assert.deepEqual(exact().toSorted(), listened.toSorted());
  });
  for (const event of ['', ' ', 'a'.repeat(300), 'a\nb', 'a\u0000b', 'webhooks.test', 'members.create'])
    await t.test(`a custom event can not be called ${JSON.stringify(event).slice(0, 40)}`, async () => {
      if (event === 'members.create') await target.user();
      const answer = await dispatch(event);
      assert.equal(answer.status, 422, answer.text);
      assert.equal(typeof at(answer.json, 'details.event'), 'string');
    });
}

onEachTopology('crons', async (t, target) => {
  const admin = await target.admin();
  const path = '/api/v1/admin/crons';
  const run = is.containing({ id: is.uuid, cron: 'clock.tidy', tick: null, cause: 'manual', started_at: is.now });
  const tidy = {
    name: 'clock.tidy',
    extension: 'clock',
    schedule: '30 3 * * 1-5',
    time_zone: 'Europe/Vienna',
    missed: 'run once',
    timeout_ms: 60_000,
    next_run_at: is.number,
    last_run: null,
  };
  const asking = (label: string, as: Scenario['as'], request: string, expect: Scenario['expect']): Scenario => ({
    name: label,
    ...(as && { as }),
    request,
    expect,
    spec,
  });
  await runScenarios(t, target, [
    asking('are listed', 'admin', `GET ${path}`, { status: 200, json: { data: is.listWith(tidy) } }),
    asking('are not for users', 'user', `GET ${path}`, refused.forbidden),
    asking('are not for guests', 'guest', `POST ${path}/clock.tidy/run`, refused.unauthenticated),
    asking('an unknown one has no runs', 'admin', `GET ${path}/clock.none/runs`, refused.notFound),
    asking('an unknown one does not run', 'admin', `POST ${path}/clock.none/run`, refused.notFound),
    asking('one has not run yet', 'admin', `GET ${path}/clock.tidy/runs`, {
      status: 200,
      json: is.containing({ data: [], totalItems: 0 }),
    }),
    asking('one is run by hand', 'admin', `POST ${path}/clock.tidy/run`, { status: 202, json: { data: run } }),
  ]);
  const lastRun = (cron: string, status: string) =>
    eventually(`the run of ${cron} is ${status}`, async () => {
      const [last] = listAt((await admin.get(`${path}/clock.${cron}/runs`)).json, 'data');
      if (last?.status !== status) throw new Error(JSON.stringify(last));
      return last;
    });
  await t.test('a run is in the history', async () => {
    assert.equal((await lastRun('tidy', 'success')).error, null);
  });
  await t.test('a run that fails says why, to admins', async () => {
    await admin.post(`${path}/clock.fails/run`, {}, 202);
    assert.equal((await lastRun('fails', 'failed')).error, 'out of luck');
  });
  await t.test('a run that is under way is not begun again, and ends with its time', async () => {
    await admin.post(`${path}/clock.sleeps/run`, {}, 202);
    assert.equal((await admin.send('POST', `${path}/clock.sleeps/run`)).status, 409);
    assert.match(String((await lastRun('sleeps', 'failed')).error), /longer than 3000 ms/);
  });
});
