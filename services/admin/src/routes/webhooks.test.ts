import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skip, someAdmin } from '../../test/test-admin.ts';
import { good, path, testWebhookRoutes, unknownId } from '../../test/test-webhook-routes.ts';
import { webhookJson } from '../webhooks/webhook-schema.ts';
import { webhookStatusJson } from '../webhooks/webhook-status.ts';

describe('the webhook routes', { skip }, () => {
  const { call, database, create, sendTest } = testWebhookRoutes();

  describe('creating', () => {
    it('fills in the defaults [webhooks §1.2]', async () => {
      const { id, secret, created_at, updated_at, ...rest } = await create();
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(created_at, updated_at);
      assert.deepEqual(rest, {
        ...good,
        type: 'http',
        headers: {},
        enabled: true,
        retry_max: 3,
        retry_backoff: 'exponential',
        retry_delay_ms: 1000,
        timeout_ms: 30_000,
        rate: null,
        filter: null,
        ordering: 'none',
        on_failure: 'block',
        batch: null,
        payload_days: null,
        owner: null,
      });
    });

    it('accepts every member', async () => {
      const body = {
        name: 'all',
        type: 'http',
        url: 'http://a.example:81/x?y=1',
        events: ['*', 'order.shipped', 'posts.create'],
        secret: `whsec_${Buffer.alloc(24).toString('base64')}`,
        headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'k' },
        enabled: false,
        retry_max: 50,
        retry_backoff: 'fixed',
        retry_delay_ms: 86_400_000,
        timeout_ms: 100,
        rate: 1000,
        ordering: 'all',
        on_failure: 'skip',
        batch: { max: 5, wait_ms: 0 },
        filter: 'event != "posts.create"',
        payload_days: 0,
        owner: null,
      };
      const { id, created_at, updated_at, ...rest } = await create(body);
      assert.deepEqual(rest, body);
    });

    const refusals: [field: string, value: unknown][] = [
      ['name', ''],
      ['name', undefined],
      ['url', undefined],
      ['url', 'ftp://a.example'],
      ['url', 'crm.example.com'],
      ['url', 'http://'],
      ['url', 'https://me:secret@a.example'],
      ['url', 5],
      ['events', undefined],
      ['events', []],
      ['events', 'posts.*'],
      ['events', ['posts.*', 'po*ts']],
      ['events', ['*.create']],
      ['events', [' posts.create']],
      ['events', ['posts. ']],
      ['events', ['posts.**']],
      ['events', ['.*']],
      ['events', ['x'.repeat(256)]],
      ['events', ['posts\n']],
      ['events', ['']],
      ['events', [null]],
      ['secret', 'whsec_short'],
      ['secret', 'plain'],
      ['headers', { Host: 'a' }],
      ['headers', { 'content-type': 'a' }],
      ['headers', { 'X-Service-Signature': 'a' }],
      ['headers', { 'webhook-id': 'a' }],
      ['headers', { 'X-A': 'a\r\nX-B: b' }],
      ['headers', { 'X A': 'a' }],
      ['headers', { 'X-A': 1 }],
      ['headers', []],
      ['enabled', 'yes'],
      ['retry_max', -1],
      ['retry_max', 51],
      ['retry_max', 1.5],
      ['retry_max', '3'],
      ['retry_backoff', 'linear'],
      ['retry_delay_ms', 99],
      ['retry_delay_ms', 86_400_001],
      ['timeout_ms', 99],
      ['timeout_ms', 60_001],
      ['surprise', 1],
    ];
    for (const [field, value] of refusals)
      it(`refuses ${field} ${JSON.stringify(value)}`, async () => {
        const { status, body } = await call('POST', path, { ...good, [field]: value });
        assert.equal(status, 422);
        assert.equal(body.code, 'validation_failed');
        assert.deepEqual(Object.keys(body.details ?? {}), [field]);
      });
  });

  describe('a definition', () => {
    it('is read, listed, changed and deleted', async () => {
      const webhook = await create();
      assert.deepEqual((await call('GET', `${path}/${webhook.id}`)).body.data, webhook);
      const list = await call('GET', `${path}?perPage=1`);
      assert.deepEqual(list.body.data, [webhook]);
      const changed = await call('PATCH', `${path}/${webhook.id}`, { ...webhook, name: 'other', retry_max: 0 });
      assert.equal(changed.status, 200);
      const { updated_at: changedAt, ...others } = webhookJson.strict().parse(changed.body.data);
      const { updated_at: createdAt, ...before } = webhook;
      assert.deepEqual(others, { ...before, name: 'other', retry_max: 0 });
      assert.ok(changedAt >= createdAt);
      assert.deepEqual((await call('DELETE', `${path}/${webhook.id}`)).body, { data: null });
      assert.equal((await call('GET', `${path}/${webhook.id}`)).status, 404);
    });

    it('keeps members that a PATCH does not name, and refuses what a create refuses', async () => {
      const webhook = await create({ enabled: false, retry_max: 7, headers: { 'X-A': 'a' } });
      const answer = await call('PATCH', `${path}/${webhook.id}`, { enabled: true });
      const { updated_at: _, ...kept } = webhook;
      assert.partialDeepStrictEqual(answer.body.data, { ...kept, enabled: true });
      const refused = await call('PATCH', `${path}/${webhook.id}`, { url: 'x', retry_max: null });
      assert.equal(refused.status, 422);
      assert.deepEqual(Object.keys(refused.body.details ?? {}).sort(), ['retry_max', 'url']);
    });

    it('gets events only while it is enabled', async () => {
      const webhook = await create();
      const spans = async () => {
        const [row] = await database().query<{ count: number; open: boolean }>({
          text: `select upper_inf(active) as open,
              (select count(*) from unnest(active)) as count from system.webhooks where id = $1`,
          values: [webhook.id],
        });
        return row;
      };
      for (const enabled of [true, false, false]) await call('PATCH', `${path}/${webhook.id}`, { enabled });
      assert.deepEqual(await spans(), { open: false, count: 1 });
      for (const enabled of [true, true]) await call('PATCH', `${path}/${webhook.id}`, { enabled });
      assert.deepEqual(await spans(), { open: true, count: 2 });
    });

    it('gets a new secret, and the old one keeps signing for the requested time, by default a day', async () => {
      const webhook = await create();
      const secrets = async () => {
        const [row] = await database().query<{ secret: string; previous: string | null; left: number | null }>({
          text: `select secret, previous_secret as previous,
              extract(epoch from previous_secret_until - now())::integer as left
            from system.webhooks where id = $1`,
          values: [webhook.id],
        });
        return row ?? assert.fail('the webhook is missing');
      };
      const regenerate = async (body?: object) => {
        const answer = await call('POST', `${path}/${webhook.id}/regenerate-secret`, body);
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        return webhookJson.strict().parse(answer.body.data);
      };
      const { secret, updated_at, ...rest } = await regenerate();
      assert.notEqual(secret, webhook.secret);
      assert.deepEqual({ ...rest, updated_at: webhook.updated_at, secret: webhook.secret }, webhook);
      const first = await secrets();
      assert.deepEqual([first.secret, first.previous], [secret, webhook.secret]);
      assert.ok(Math.abs((first.left ?? 0) - 86_400) < 60, `${first.left}`);
      const status = await call('GET', `${path}/${webhook.id}/status`);
      assert.ok(webhookStatusJson.strict().parse(status.body.data).previous_secret_until);

      // A webhook that is sent back unchanged keeps both secrets; another secret ends both.
      await call('PATCH', `${path}/${webhook.id}`, { ...rest, secret });
      assert.equal((await secrets()).previous, webhook.secret);
      await call('PATCH', `${path}/${webhook.id}`, { secret: webhook.secret });
      assert.deepEqual(await secrets(), { secret: webhook.secret, previous: null, left: null });

      await regenerate({ overlap_seconds: 0 });
      assert.equal((await secrets()).previous, null);
      for (const overlap_seconds of [-1, 1.5, 604_801, 'long']) {
        const refused = await call('POST', `${path}/${webhook.id}/regenerate-secret`, { overlap_seconds });
        assert.equal(refused.status, 422);
        assert.deepEqual(Object.keys(refused.body.details ?? {}), ['overlap_seconds']);
      }
    });

    it("reports its receiver's health, and resets it after a change that may fix it", async () => {
      const webhook = await create();
      const status = async () => {
        const answer = await call('GET', `${path}/${webhook.id}/status`);
        return webhookStatusJson.strict().parse(answer.body.data);
      };
      const fail = () =>
        database().query({
          text: `update system.webhooks
            set failures = 9, failing_since = to_timestamp(1e9), paused_until = now() + interval '1 hour' where id = $1`,
          values: [webhook.id],
        });
      const healthy = {
        state: 'active',
        failures: 0,
        failing_since: null,
        paused_until: null,
        previous_secret_until: null,
        pending: 0,
        oldest_pending_at: null,
        blocking: null,
        blocked: 0,
      };
      assert.deepEqual(await status(), healthy);
      await fail();
      const { paused_until, ...failing } = await status();
      assert.ok(paused_until);
      assert.deepEqual(
        { ...failing, paused_until: null },
        { ...healthy, state: 'paused', failures: 9, failing_since: 1e9 },
      );
      for (const change of [
        { url: 'https://b.example/' },
        { headers: { 'X-A': 'b' } },
        { enabled: false },
        { enabled: true },
      ]) {
        await fail();
        await call('PATCH', `${path}/${webhook.id}`, {
          name: 'renamed',
          enabled: !('enabled' in change) || !change.enabled,
        });
        await fail();
        await call('PATCH', `${path}/${webhook.id}`, change);
        assert.equal((await status()).failures, 0, JSON.stringify(change));
      }
      await fail();
      await call('PATCH', `${path}/${webhook.id}`, { name: 'another', url: 'https://b.example/' });
      assert.equal((await status()).state, 'paused');
      await sendTest(webhook.id);
      const { paused_until: now, pending } = await status();
      assert.ok(now && now <= Date.now() / 1000 + 60, 'a test does not wait');
      assert.equal(pending, 1);
    });
  });

  describe('an unknown id', () => {
    const requests: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/regenerate-secret'],
      ['GET', '/deliveries'],
      ['GET', `/deliveries/${unknownId}`],
      ['GET', '/deliveries/x'],
      ['POST', `/deliveries/${unknownId}/redeliver`],
      ['POST', '/replay', { since: 0 }],
    ];
    for (const [method, suffix, body] of requests)
      it(`is 404 for ${method} ${suffix || 'the webhook'}`, async () => {
        const answer = await call(method, `${path}/${unknownId}${suffix}`, body);
        assert.equal(answer.status, 404);
        assert.equal(answer.body.code, 'not_found');
      });

    it('for a delivery is 404 under another webhook', async () => {
      const [one, other] = [await create(), await create()];
      const delivery = await sendTest(one.id);
      assert.equal((await call('GET', `${path}/${other.id}/deliveries/${delivery.id}`)).status, 404);
    });
  });

  it('is for admins only', async () => {
    assert.equal((await call('GET', path, undefined, { type: 'guest', rejectedToken: false })).status, 401);
    const user = {
      type: 'user',
      id: someAdmin.id,
      email: 'u@example.com',
      collection: 'users',
      anonymous: false,
      impersonatedBy: null,
    } as const;
    assert.equal((await call('GET', path, undefined, user)).status, 403);
  });
});
