import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { userCollection } from '../harness/stacks/stack.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const closedRules = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };

onEachTopology('null admits every caller, the empty string only admins', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'title', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'closed', type: 'base', fields, ...closedRules });
  await admin.post('/api/v1/collections', { name: 'open', type: 'base', fields });
  const closed = await admin.create('closed', { title: 'x' });
  const everyCall = (collection: string, id: string, as: Caller, expect: Scenario['expect']): Scenario[] =>
    [
      `GET /api/v1/${collection}`,
      `GET /api/v1/${collection}/${id}`,
      `POST /api/v1/${collection}`,
      `PATCH /api/v1/${collection}/${id}`,
      `DELETE /api/v1/${collection}/${id}`,
    ].map((request) => ({
      name: `${as}: ${request.replace(id, ':id')}`,
      as,
      request,
      ...(/^(POST|PATCH)/.test(request) && { body: { title: 'y' } }),
      expect,
      spec: 'rules §1.2, §2.1',
    }));
  const admitted = async (collection: string, as: Caller): Promise<Scenario[]> => {
    const { id } = await admin.create(collection, { title: 'x' });
    const events: Record<string, readonly string[]> = {
      POST: [`${collection}.create`],
      PATCH: [`${collection}.update`],
      DELETE: [`${collection}.delete`],
    };
    return everyCall(collection, id, as, { status: 200 }).map((row) => {
      const [method = ''] = row.request.split(' ');
      return { ...row, expect: { status: method === 'POST' ? 201 : 200 }, events: events[method] ?? [] };
    });
  };
  await runScenarios(t, target, [
    ...everyCall('closed', closed.id, 'guest', refused.forbidden),
    ...everyCall('closed', closed.id, 'user', refused.forbidden),
    ...(await admitted('closed', 'admin')),
    ...(await admitted('open', 'guest')),
    ...(await admitted('open', 'user')),
    {
      name: 'an invalid token',
      request: `GET /api/v1/closed/${closed.id}`,
      headers: { Authorization: 'Bearer expired.or.forged' },
      expect: refused.unauthenticated,
      spec: 'rules §2.4',
    },
    {
      name: 'an invalid token on a public collection',
      request: 'GET /api/v1/open',
      headers: { Authorization: 'Bearer expired.or.forged' },
      expect: { status: 200, json: is.containing({ page: 1 }) },
      spec: 'http §6.4',
    },
    {
      name: 'a create with an invalid body',
      request: 'POST /api/v1/closed',
      body: { colour: 'red' },
      expect: refused.forbidden,
      spec: 'rules §2.1',
    },
    {
      name: 'a get of an unknown record',
      request: 'GET /api/v1/closed/01980000-0000-7000-8000-00000000dead',
      expect: refused.forbidden,
      spec: 'rules §2.1',
    },
  ]);
});

onEachTopology('a rule checks the caller and the record', async (t, target) => {
  const admin = await target.admin();
  const uma = await target.user();
  const owner = 'owner = @request.auth.id';
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'owner', type: 'text' },
    { name: 'mail', type: 'text' },
  ];
  const define = (name: string, rules: object) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, ...rules });
  await define('owned', {
    list_rule: owner,
    view_rule: owner,
    create_rule: owner,
    update_rule: `${owner} && @request.body.owner:changed = false`,
    delete_rule: owner,
  });
  await define('known', {
    list_rule: '@request.auth.email = mail',
    view_rule: '@request.auth.type = "user"',
    update_rule: 'owner != @request.auth.id',
    delete_rule: '@request.auth.id = null || @request.auth.email = "" || @request.auth.id !~ "x"',
  });
  const users = (await admin.get(`/api/v1/${userCollection}?filter=${encodeURIComponent(`id = "${uma.id}"`)}`)).json;
  const email = textAt(users, 'data.0.email');
  const mine = await admin.create('owned', { title: 'mine', owner: uma.id });
  const other = await admin.create('owned', { title: 'other', owner: 'another' });
  const nobody = await admin.create('owned', { title: 'nobody' });
  const note = await admin.create('known', { title: 'note', mail: email });
  const unknown = 'owned/01980000-0000-7000-8000-00000000dead';

  const row = (as: Caller, request: string, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name: `${as}: ${request.replace(/[0-9a-f-]{36}/, ':id')} ${JSON.stringify(more.body ?? '')}`,
    as,
    request: request.replace(' ', ' /api/v1/'),
    expect,
    spec: 'rules §2.2, §2.3',
    ...more,
  });
  const lists = (as: Caller, collection: string, ...titles: string[]) =>
    row(as, `GET ${collection}?sort=title`, {
      status: 200,
      json: is.containing({ totalItems: titles.length, data: titles.map((title) => is.containing({ title })) }),
    });
  const stale = { headers: { 'If-Match': 'W/"1"' } };
  const ok = { status: 200 };
  await runScenarios(t, target, [
    lists('user', 'owned', 'mine'),
    lists('guest', 'owned'),
    lists('admin', 'owned', 'mine', 'nobody', 'other'),
    lists('user', 'known', 'note'),
    lists('guest', 'known'),
    row('user', `GET owned/${mine.id}`, ok),
    row('user', `GET owned/${other.id}`, refused.forbidden),
    row('guest', `GET owned/${nobody.id}`, refused.forbidden),
    row('admin', `GET owned/${other.id}`, ok),
    row('user', `GET ${unknown}`, refused.notFound),
    row('user', `GET known/${note.id}`, ok),
    row('guest', `GET known/${note.id}`, refused.forbidden),
    row('guest', `GET owned/${mine.id}`, refused.unauthenticated, { headers: { Authorization: 'Bearer no.good' } }),
    row('user', 'POST owned', { status: 201 }, { body: { title: 'new', owner: uma.id }, events: ['owned.create'] }),
    row('user', 'POST owned', refused.forbidden, { body: { title: 'new', owner: 'another' } }),
    row('guest', 'POST owned', refused.forbidden, { body: { title: 'new' } }),
    row('user', `PATCH owned/${mine.id}`, ok, { body: { title: 'mine' }, events: ['owned.update'] }),
    row('user', `PATCH owned/${mine.id}`, ok, { body: { owner: uma.id }, events: ['owned.update'] }),
    row('user', `PATCH owned/${mine.id}`, refused.forbidden, { body: { owner: 'another' } }),
    row('user', `PATCH owned/${other.id}`, refused.forbidden, { body: { owner: uma.id } }),
    row('guest', `PATCH owned/${nobody.id}`, refused.forbidden, { body: {} }),
    row('guest', `PATCH known/${note.id}`, refused.forbidden, { body: {} }),
    row('user', `PATCH known/${note.id}`, ok, { body: { title: 'note' }, events: ['known.update'] }),
    row('user', `PATCH ${unknown}`, refused.notFound, { body: {} }),
    row('user', `DELETE owned/${other.id}`, refused.forbidden, stale),
    row('user', `DELETE owned/${mine.id}`, { status: 412 }, stale),
    row('guest', `DELETE owned/${nobody.id}`, refused.forbidden),
    row('guest', `DELETE known/${note.id}`, refused.forbidden),
    row('user', `DELETE owned/${mine.id}`, ok, { events: ['owned.delete'] }),
    row('user', `DELETE owned/${mine.id}`, refused.notFound),
    row('admin', `DELETE owned/${other.id}`, ok, { events: ['owned.delete'] }),
  ]);
});

onEachTopology('filters and sorts have limits', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'rank', type: 'number' },
    { name: 'next', type: 'relation', collection: 'bounded' },
  ];
  await admin.post('/api/v1/collections', { name: 'bounded', type: 'base', fields });
  const times = (count: number, text: string) => Array.from({ length: count }, () => text);
  const path = (hops: number) => [...times(hops, 'next'), 'rank'].join('.');
  const limits: [string, string, (count: number) => string, number][] = [
    ['sort terms', 'sort', (count) => times(count, 'rank').join(','), 8],
    ['relations in a path of a sort', 'sort', path, 6],
    ['relations in a path of a filter', 'filter', (count) => `${path(count)} = 1`, 6],
    ['relations in a path of expand', 'expand', (count) => times(count, 'next').join('.'), 6],
    ['terms of a filter', 'filter', (count) => times(count, 'rank=1').join('||'), 200],
    ['characters of a filter', 'filter', (count) => `title="${'x'.repeat(count - 8)}"`, 4000],
    ['nested parentheses', 'filter', (count) => `${'('.repeat(count)}rank=1${')'.repeat(count)}`, 32],
  ];
  await runScenarios(
    t,
    target,
    limits.flatMap(([what, name, make, most]) =>
      [most, most + 1].map((count) => ({
        name: `${count} ${what}`,
        request: `GET /api/v1/bounded?${name}=${encodeURIComponent(make(count))}`,
        expect: count === most ? { status: 200 } : { status: 400, json: is.containing({ code: is.code }) },
        spec: 'filters §3, §9.1',
      })),
    ),
  );
});

onEachTopology('secret fields can be neither named nor shown', async (t, target) => {
  const admin = await target.admin();
  const uma = await target.user();
  const names = ['password', 'password_hash', 'totp_secret', 'is_anonymous', 'password_reset_at', 'nope'];
  await admin.post('/api/v1/collections', {
    name: 'letters',
    type: 'base',
    fields: [{ name: 'writer', type: 'relation', collection: userCollection }],
  });
  const letter = await admin.create('letters', { writer: uma.id });
  const requests = names.flatMap((name) => [
    `${userCollection}?filter=${encodeURIComponent(`${name} != null`)}`,
    `${userCollection}?sort=-${name}`,
    `letters?filter=${encodeURIComponent(`writer.${name} ~ "a"`)}`,
    `letters?sort=writer.${name}`,
  ]);
  await runScenarios(t, target, [
    ...requests.map((request) => ({
      name: request,
      as: 'admin' as const,
      request: `GET /api/v1/${request}`,
      expect: { status: 400, json: is.containing({ code: is.code }) },
      spec: 'filters §4.2',
    })),
    {
      name: 'an expanded user without secret fields',
      as: 'admin',
      request: `GET /api/v1/letters/${letter.id}?expand=writer&fields=expand.writer.password_hash,expand.writer.email`,
      expect: { status: 200, json: { data: { id: letter.id, expand: { writer: { id: uma.id, email: is.text } } } } },
      spec: 'records §2.3',
    },
  ]);
});

onEachTopology("a rule reads the caller's collection and verified", async (t, target) => {
  const admin = await target.admin();
  const uma = await target.user();
  const define = (name: string, rule: string) =>
    admin.post('/api/v1/collections', {
      name,
      type: 'base',
      fields: [{ name: 'title', type: 'text' }],
      ...closedRules,
      view_rule: rule,
    });
  const rules = {
    ofusers: `@request.auth.collection = "${userCollection}"`,
    ofothers: `@request.auth.collection != "${userCollection}"`,
    proved: '@request.auth.verified = true',
    unproved: '@request.auth.verified = false',
  };
  const paths = new Map<string, string>();
  for (const [name, rule] of Object.entries(rules)) {
    await define(name, rule);
    paths.set(name, `/api/v1/${name}/${(await admin.create(name, { title: 'x' })).id}`);
  }
  const statuses = async (client: Pick<typeof uma, 'get'>) =>
    Promise.all([...paths.values()].map(async (path) => (await client.get(path)).status));
  const setVerified = (verified: boolean) => admin.patch(`/api/v1/${userCollection}/${uma.id}`, { verified });

  await t.test("rules follow the caller's account [rules §4.1]", async () => {
    assert.deepEqual(await statuses(uma), [200, 403, 403, 200]);
    assert.deepEqual(await statuses(target.guest), [403, 403, 403, 403], 'a guest has neither value');
    await setVerified(true);
    await eventually('the rules see verified', async () => `${await statuses(uma)}` === '200,403,200,403');
    await setVerified(false);
    await eventually('the rules see the change back', async () => `${await statuses(uma)}` === '200,403,403,200');
  });
});
