import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { at, textAt } from '../../harness/json.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';
import { makeKey } from '../service-keys.ts';

const text = (name: string) => ({ name, type: 'text' });
const closed = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };

onEachTopology('service keys follow changes', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'other',
    type: 'base',
    list_rule: null,
    view_rule: null,
    fields: [text('word')],
  });
  await admin.post('/api/v1/collections', {
    name: 'followed',
    type: 'base',
    ...closed,
    fields: [text('word'), { ...text('hidden'), view_rule: '' }, { name: 'to', type: 'relation', collection: 'other' }],
  });
  await admin.post('/api/v1/collections', {
    name: 'ruled',
    type: 'base',
    ...closed,
    list_rule: '@request.auth.type = "service" && owner = @request.auth.id',
    fields: [text('owner')],
  });
  await admin.patch('/api/v1/admin/settings', {
    'realtime.channels': JSON.stringify([{ pattern: 'c*', publish_rule: null, subscribe_rule: null }]),
  });
  const key = await makeKey(target, ['records:followed:read', 'rules:ruled']);
  const followed = { collection: 'followed' };

  await t.test('in the collections in its scopes, with and without rules [keys §5.6]', async () => {
    const own = await admin.create('other', { word: 'w' });
    await using live = await openLive(
      target.url,
      [
        { id: 'f', ...followed, expand: 'to', snapshot: true },
        { id: 'r', collection: 'ruled' },
      ],
      { token: key.key },
    );
    await live.arrived('ready');
    await live.arrived('snapshot');
    await admin.create('followed', { word: 'a', hidden: 'h', to: own.id });
    await admin.create('ruled', { owner: 'another' });
    await admin.create('ruled', { owner: key.id });
    const created = await live.arrived('create', 2);
    assert.deepEqual(created.map(({ data }) => data.sub).sort(), ['f', 'r']);
    const record = created.find(({ data }) => data.sub === 'f')?.data.record as Record<string, unknown>;
    assert.equal(record.hidden, 'h');
    assert.ok(!JSON.stringify(record.expand ?? {}).includes('"word"'));
    const ruled = created.find(({ data }) => data.sub === 'r')?.data.record as Record<string, unknown>;
    assert.equal(ruled.owner, key.id);
  });

  await t.test('in no other collection, even if guests may [keys §4.2, §5.6]', async () => {
    for (const subscription of [
      { collection: 'other' },
      { collection: 'nowhere' },
      { ...followed, filter: 'to.word = "w"' },
      { ...followed, filter: 'exists(other, word = "w")' },
      { channel: 'c1' },
    ]) {
      await using live = await openLive(target.url, [subscription], { token: key.key });
      assert.ok([400, 403, 404].includes(live.status), `${live.status} ${JSON.stringify(subscription)}`);
    }
    const files = await makeKey(target, ['files']);
    await using live = await openLive(target.url, [followed], { token: files.key });
    assert.equal(live.status, 403);
  });

  await t.test('channels need a key with the scope rules:* [keys §3.4]', async () => {
    const wide = await makeKey(target, ['rules:*']);
    await using live = await openLive(target.url, [{ channel: 'c1' }], { token: wide.key });
    await live.arrived('ready');
    await wide.post('/api/v1/realtime/channels/c1', { data: 1 }, 200);
    const [message] = await live.arrived('broadcast');
    assert.deepEqual(message?.data.from, { type: 'service', id: wide.id });
  });

  for (const [name, end] of [
    ['a revocation', (id: string) => admin.delete(`/api/v1/admin/keys/${id}`)],
    ['other scopes', (id: string) => admin.patch(`/api/v1/admin/keys/${id}`, { scopes: ['files'] })],
  ] as const)
    await t.test(`${name} closes the connection [keys §5.6]`, async () => {
      const brief = await makeKey(target, ['records:followed:read']);
      await using live = await openLive(target.url, [followed], { token: brief.key });
      await live.arrived('ready');
      const beganAtMs = performance.now();
      await end(brief.id);
      const [revoked] = await live.arrived('revoked');
      assert.match(textAt(revoked?.data, 'reason'), /^(session_ended|account_changed)$/);
      await live.closed();
      const tookMs = performance.now() - beganAtMs;
      t.diagnostic(`${name}: ${Math.round(tookMs)} ms`);
      const word = `after ${name}`;
      await admin.create('followed', { word });
      // The previous test's record may arrive late.
      assert.ok(live.messages.every(({ data }) => at(data, 'record.word') !== word));
    });

  await t.test('its expiry closes the connection too [keys §5.6]', async () => {
    // A busy machine may take longer than the first lifetimes to open the connection.
    const open = async (lifetimeSec: number): Promise<LiveClient> => {
      const brief = await makeKey(target, ['admin'], { expires_at: Math.floor(Date.now() / 1000) + lifetimeSec });
      const opened = await openLive(target.url, [followed], { token: brief.key });
      return opened.status === 200 ? opened : open(2 * lifetimeSec);
    };
    await using live = await open(5);
    const [revoked] = await live.arrived('revoked');
    assert.equal(revoked?.data.reason, 'token_expired');
    await live.closed();
  });

  await t.test('a key gets no ticket [keys §2.2]', async () => {
    assert.equal((await key.send('POST', '/api/v1/realtime/ticket', { body: {} })).status, 403);
  });
});
