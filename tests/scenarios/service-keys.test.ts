import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology, replicaCount } from '../harness/stacks/target.ts';
import { makeKey } from './service-keys.ts';

const path = '/api/v1/admin/keys';

onEachTopology('admins make, change and revoke service keys', async (t, target) => {
  const admin = await target.admin();
  await admin.send('POST', '/api/v1/collections', { body: { name: 'kept', type: 'base', fields: [] } });
  const spec = 'keys §1';
  const shown = {
    id: is.text,
    prefix: is.text,
    name: 'ci',
    scopes: ['records:kept:read', 'files'],
    expires_at: null,
    allowed_cidrs: [],
    rate_label: null,
    rate_limited: true,
    created_by: { type: 'admin', id: is.text },
    created_at: is.number,
    updated_at: is.number,
    last_used_at: null,
    last_used_ip: null,
  };
  const body = { name: 'ci', scopes: ['records:kept:read', 'files'] };
  await runScenarios(t, target, [
    { name: 'a guest', request: `POST ${path}`, body, expect: refused.unauthenticated, spec },
    { name: 'a user', as: 'user', request: `POST ${path}`, body, expect: refused.forbidden, spec },
    {
      name: 'the key is shown once',
      as: 'admin',
      request: `POST ${path}`,
      body,
      expect: { status: 201, json: { data: { ...shown, key: is.text } } },
      spec,
    },
    ...[
      [{ ...body, scopes: [] }, 'scopes'],
      [{ ...body, scopes: ['records:kept'] }, 'scopes.0'],
      [{ ...body, scopes: ['records:kept:admin'] }, 'scopes.0'],
      [{ ...body, scopes: ['root'] }, 'scopes.0'],
      [{ ...body, scopes: ['records:nowhere:read'] }, 'scopes'],
      [{ ...body, scopes: 'admin' }, 'scopes'],
      [{ ...body, name: '' }, 'name'],
      [{ ...body, expires_at: 1 }, 'expires_at'],
      [{ ...body, expires_at: 1e300 }, 'expires_at'],
      [{ ...body, allowed_cidrs: ['10.0.0.0/33'] }, 'allowed_cidrs.0'],
      [{ ...body, allowed_cidrs: ['10.0.0.0/8,11.0.0.0/8'] }, 'allowed_cidrs.0'],
      [{ ...body, rate_label: 'a b' }, 'rate_label'],
      [{ ...body, rate_limited: 'no' }, 'rate_limited'],
      [{ ...body, rate_limited: false }, 'rate_limited'],
      [{ ...body, rate_limited: false, expires_at: Math.floor(Date.now() / 1000) + 90_000 }, 'rate_limited'],
      [{ ...body, hash: 'x' }, 'hash'],
    ].map(([wrong, member]) => ({
      name: `wrong ${member}: ${JSON.stringify(wrong)}`,
      as: 'admin' as const,
      request: `POST ${path}`,
      body: wrong,
      expect: {
        status: 422,
        json: { error: is.text, code: 'validation_failed', details: { [String(member)]: is.text } },
      },
      spec,
    })),
    {
      name: 'two wrong members are both named',
      as: 'admin',
      request: `POST ${path}`,
      body: { ...body, scopes: ['records:nowhere:read'], expires_at: 1 },
      expect: {
        status: 422,
        json: { error: is.text, code: 'validation_failed', details: { scopes: is.text, expires_at: is.text } },
      },
      spec: 'http §4.3',
    },
    { name: 'an unknown key', as: 'admin', request: `GET ${path}/nothing`, expect: refused.notFound, spec },
    {
      name: 'an unknown key is not changed',
      as: 'admin',
      request: `PATCH ${path}/aaaaaaaaaaaaaaaa`,
      body: { name: 'x' },
      expect: refused.notFound,
      spec,
    },
    { name: 'nor revoked', as: 'admin', request: `DELETE ${path}/aaaaaaaaaaaaaaaa`, expect: refused.notFound, spec },
  ]);

  const key = await makeKey(target, ['records:kept:read']);

  await t.test('a list and a get have no secret [keys §1.3]', async () => {
    const one = await admin.get(`${path}/${key.id}`);
    const list = await admin.get(`${path}?perPage=1000`);
    assert.equal(objectAt(one.json, 'data').prefix, key.key.slice(0, 'rbk_'.length + 16));
    const secret = key.key.slice(-43);
    for (const { text } of [one, list]) assert.ok(!text.includes(secret) && text.includes(key.id));
    assert.ok(listAt(list.json, 'data').length > 0);
  });

  await t.test('a change takes effect at once, and the scopes follow renames [keys §1.6, §3.3]', async () => {
    assert.equal((await key.get('/api/v1/kept')).status, 200);
    assert.equal((await key.send('POST', '/api/v1/kept', { body: {} })).status, 403);
    await admin.patch(`${path}/${key.id}`, { scopes: ['records:kept:write'] });
    await eventually(
      'the key may write',
      async () => (await key.send('POST', '/api/v1/kept', { body: {} })).status === 201,
    );
    const { id } = objectAt((await admin.get('/api/v1/collections/kept')).json, 'data');
    await admin.patch(`/api/v1/collections/${id}`, { name: 'renamed' });
    assert.deepEqual(objectAt((await admin.get(`${path}/${key.id}`)).json, 'data').scopes, ['records:renamed:write']);
    await eventually('the key follows', async () => (await key.get('/api/v1/renamed')).status === 200);
    await eventually('the old name is outside its scopes', async () => (await key.get('/api/v1/kept')).status === 403);
    await admin.delete(`/api/v1/collections/${id}`);
    assert.deepEqual(objectAt((await admin.get(`${path}/${key.id}`)).json, 'data').scopes, []);
  });

  await t.test('a revoked key is refused [keys §1.6]', async () => {
    const other = await makeKey(target, ['collections:read']);
    assert.equal((await other.get('/api/v1/collections')).status, 200);
    await admin.delete(`${path}/${other.id}`);
    await eventually('it is refused', async () => (await other.get('/api/v1/collections')).status === 401);
  });

  await t.test('each change has an audit row [keys §1.7]', async () => {
    const rows = listAt((await admin.get('/api/v1/admin/audit?perPage=1000')).json, 'data');
    const actions = rows.map((row) => textAt(row, 'action'));
    for (const action of ['keys.create', 'keys.update', 'keys.delete']) assert.ok(actions.includes(action), action);
    const secret = key.key.slice(-43);
    assert.ok(!JSON.stringify(rows).includes(secret));
  });
});

/** Encodes every character. */
const encodeAll = (text: string): string => text.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`);

onEachTopology('a service key that is not good is refused', async (t, target) => {
  const admin = await target.admin();
  const good = await makeKey(target, ['admin']);
  const elsewhere = await makeKey(target, ['admin'], { allowed_cidrs: ['192.0.2.0/24', '2001:db8::/32'] });
  const here = await makeKey(target, ['admin'], { allowed_cidrs: ['192.0.2.1', '127.0.0.0/8', '::1'] });
  const brief = await makeKey(target, ['admin'], { expires_at: Math.floor(Date.now() / 1000) + 5 });
  const me = '/api/v1/admin/admins';
  const refusedAs = (sentence: RegExp) => (answer: { status: number; text: string }) => {
    assert.equal(answer.status, 401, answer.text);
    assert.match(answer.text, sentence);
    assert.match(answer.text, /"code":"key_refused"/);
  };

  await t.test('from another network [keys §2.3]', async () => {
    refusedAs(/may not be used from this address/)(await elsewhere.get(me));
    assert.equal((await here.get(me)).status, 200);
  });

  await t.test('with another secret, unknown, or broken [keys §2.3]', async () => {
    const wrong = [
      `${good.key.slice(0, -1)}${good.key.endsWith('A') ? 'B' : 'A'}`,
      `rbk_aaaaaaaaaaaaaaaa_${'a'.repeat(43)}`,
      'rbk_',
      'rbk_x',
      `${good.key}x`,
      `rbk_${'a'.repeat(5000)}`,
    ];
    for (const key of wrong) refusedAs(/is not valid/)(await createClient(target.url, key).get('/healthz'));
  });

  await t.test('after its end [keys §2.3]', async () => {
    await eventually('it has expired', async () => {
      const answer = await brief.get(me);
      return answer.status === 401 && answer.text.includes('has expired');
    });
  });

  await t.test('in a URL, whatever its name [keys §2.4]', async () => {
    for (const url of [
      `${me}?token=${good.key}`,
      `${me}?key=${good.key}`,
      `/api/v1/realtime?subscribe=${encodeURIComponent(JSON.stringify({ collection: good.key }))}`,
      `/api/v1/realtime?ticket=${good.key}`,
      `/api/v1/${good.key}`,
      `${me}?x=${good.key.replace('rbk', '%72%62%6B')}`,
      `/api/v1/${encodeAll(good.key.slice(0, 12))}${good.key.slice(12)}`,
      `/api/v1/records/${good.key.replaceAll('_', '%5f')}/x`,
    ])
      for (const client of [target.guest, good]) refusedAs(/never goes into a URL/)(await client.get(url));
  });

  await t.test(
    'refusals are audited, and repeated refusals of one kind are one row per gateway and minute [keys §2.5]',
    async () => {
      const refusals = async () =>
        listAt((await admin.get('/api/v1/admin/audit?action=keys.refused&perPage=1000')).json, 'data').map((row) => [
          objectAt(row, 'details').reason,
          row.target_id,
        ]);
      await eventually('each reason has a row', async () => {
        const reasons = new Set((await refusals()).map(([reason]) => reason));
        return ['unknown', 'expired', 'network', 'url'].every((reason) => reasons.has(reason));
      });
      const ofNetwork = async () =>
        (await refusals()).filter(([reason, id]) => reason === 'network' && id === elsewhere.id).length;
      const before = await ofNetwork();
      for (let n = 0; n < 30; n += 1) await elsewhere.get(me);
      const after = await ofNetwork();
      // The requests may reach into a second minute.
      assert.ok(after > 0 && after <= before + 2 * replicaCount, `${before} rows became ${after}`);
    },
  );

  await t.test('no log line, request row or audit row has a secret [keys §1.4]', async () => {
    const secret = good.key.slice(-43);
    await createClient(target.url).send('GET', '/api/v1/health', {
      headers: { 'X-Request-Id': good.key, 'User-Agent': `agent ${good.key}`, 'X-Api-Key': good.key },
    });
    await target.guest.send('POST', '/api/v1/admin/login', { body: { email: good.key, password: good.key } });
    await eventually('the requests are logged', async () =>
      (await admin.get('/api/v1/admin/logs?perPage=1000')).text.includes('agent rbk_'),
    );
    const logs = await admin.get('/api/v1/admin/logs?perPage=1000');
    const audit = await admin.get('/api/v1/admin/audit?perPage=1000');
    const lines = target.logLines.join('\n');
    for (const text of [logs.text, audit.text, lines])
      assert.ok(!text.includes(secret), text.slice(text.indexOf(secret) - 300));
  });
});
