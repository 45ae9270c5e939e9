import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '@recordbus/shared/testing';
import { skip, someAdmin, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';
import { deliveryJson } from '../webhooks/delivery-schema.ts';
import { webhookJson } from '../webhooks/webhook-schema.ts';
import { webhookStatusJson } from '../webhooks/webhook-status.ts';

const path = '/api/v1/admin/webhooks';
const good = { name: 'CRM', url: 'https://crm.example.com/hook', events: ['posts.*'] };
const nobody = '01890000-0000-7000-8000-00000000dead';

describe('the webhook routes', { skip }, () => {
  let admin: TestAdmin;

  before(async () => {
    admin = await startTestAdmin();
  });
  after(() => admin.stop());

  async function create(body: object = {}) {
    const answer = await admin.call('POST', path, { ...good, ...body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return webhookJson.strict().parse(answer.body.data);
  }

  async function test(id: string) {
    const answer = await admin.call('POST', `${path}/${id}/test`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return deliveryJson.strict().parse(answer.body.data);
  }

  const end = (deliveryId: string, status: 'success' | 'dead') =>
    admin.database.query({
      text: `with ended as (delete from system.delivery_queue where delivery_id = $1)
        update system.deliveries set status = $2, attempt = 1, completed_at = now() where id = $1`,
      values: [deliveryId, status],
    });

  describe('creating', () => {
    it('fills in the defaults of the contract', async () => {
      const { id, secret, created_at, updated_at, ...rest } = await create();
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(created_at, updated_at);
      assert.deepEqual(rest, {
        ...good,
        headers: {},
        enabled: true,
        retry_max: 3,
        retry_backoff: 'exponential',
        retry_delay_ms: 1000,
        timeout_ms: 30_000,
      });
    });

    it('takes everything that may be set', async () => {
      const body = {
        name: 'all',
        url: 'http://a.example:81/x?y=1',
        events: ['*', 'order.shipped', 'posts.create'],
        secret: `whsec_${Buffer.alloc(24).toString('base64')}`,
        headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'k' },
        enabled: false,
        retry_max: 50,
        retry_backoff: 'fixed',
        retry_delay_ms: 86_400_000,
        timeout_ms: 100,
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
        const { status, body } = await admin.call('POST', path, { ...good, [field]: value });
        assert.equal(status, 422);
        assert.equal(body.code, 'validation_failed');
        assert.deepEqual(Object.keys(body.details ?? {}), [field]);
      });
  });

  describe('a definition', () => {
    it('is read, listed, changed and deleted', async () => {
      const webhook = await create();
      assert.deepEqual((await admin.call('GET', `${path}/${webhook.id}`)).body.data, webhook);
      const list = await admin.call('GET', `${path}?perPage=1`);
      assert.deepEqual(list.body.data, [webhook]);
      const changed = await admin.call('PATCH', `${path}/${webhook.id}`, { ...webhook, name: 'other', retry_max: 0 });
      assert.equal(changed.status, 200);
      const { updated_at: changedAt, ...others } = webhookJson.strict().parse(changed.body.data);
      const { updated_at: createdAt, ...before } = webhook;
      assert.deepEqual(others, { ...before, name: 'other', retry_max: 0 });
      assert.ok(changedAt >= createdAt);
      assert.deepEqual((await admin.call('DELETE', `${path}/${webhook.id}`)).body, { data: null });
      assert.equal((await admin.call('GET', `${path}/${webhook.id}`)).status, 404);
    });

    it('keeps what a PATCH does not name, and refuses what a create refuses', async () => {
      const webhook = await create({ enabled: false, retry_max: 7, headers: { 'X-A': 'a' } });
      const answer = await admin.call('PATCH', `${path}/${webhook.id}`, { enabled: true });
      assert.deepEqual(answer.body.data, { ...webhook, enabled: true });
      const refused = await admin.call('PATCH', `${path}/${webhook.id}`, { url: 'x', retry_max: null });
      assert.equal(refused.status, 422);
      assert.deepEqual(Object.keys(refused.body.details ?? {}).sort(), ['retry_max', 'url']);
    });

    it('listens only while it is enabled', async () => {
      const webhook = await create();
      const spans = async () => {
        const [row] = await admin.database.query<{ count: number; open: boolean }>({
          text: `select upper_inf(active) as open,
              (select count(*) from unnest(active)) as count from system.webhooks where id = $1`,
          values: [webhook.id],
        });
        return row;
      };
      for (const enabled of [true, false, false]) await admin.call('PATCH', `${path}/${webhook.id}`, { enabled });
      assert.deepEqual(await spans(), { open: false, count: 1 });
      for (const enabled of [true, true]) await admin.call('PATCH', `${path}/${webhook.id}`, { enabled });
      assert.deepEqual(await spans(), { open: true, count: 2 });
    });

    it('gets a new secret; the old one signs on for as long as was asked, by default a day', async () => {
      const webhook = await create();
      const secrets = async () => {
        const [row] = await admin.database.query<{ secret: string; previous: string | null; left: number | null }>({
          text: `select secret, previous_secret as previous,
              extract(epoch from previous_secret_until - now())::integer as left
            from system.webhooks where id = $1`,
          values: [webhook.id],
        });
        return row ?? assert.fail('it is gone');
      };
      const regenerate = async (body?: object) => {
        const answer = await admin.call('POST', `${path}/${webhook.id}/regenerate-secret`, body);
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        return webhookJson.strict().parse(answer.body.data);
      };
      const { secret, updated_at, ...rest } = await regenerate();
      assert.notEqual(secret, webhook.secret);
      assert.deepEqual({ ...rest, updated_at: webhook.updated_at, secret: webhook.secret }, webhook);
      const first = await secrets();
      assert.deepEqual([first.secret, first.previous], [secret, webhook.secret]);
      assert.ok(Math.abs((first.left ?? 0) - 86_400) < 60, `${first.left}`);
      const status = await admin.call('GET', `${path}/${webhook.id}/status`);
      assert.ok(webhookStatusJson.strict().parse(status.body.data).previous_secret_until);

      // Sending back what was read changes nothing; another secret ends both.
      await admin.call('PATCH', `${path}/${webhook.id}`, { ...rest, secret });
      assert.equal((await secrets()).previous, webhook.secret);
      await admin.call('PATCH', `${path}/${webhook.id}`, { secret: webhook.secret });
      assert.deepEqual(await secrets(), { secret: webhook.secret, previous: null, left: null });

      await regenerate({ overlap_seconds: 0 });
      assert.equal((await secrets()).previous, null);
      for (const overlap_seconds of [-1, 1.5, 604_801, 'long']) {
        const refused = await admin.call('POST', `${path}/${webhook.id}/regenerate-secret`, { overlap_seconds });
        assert.equal(refused.status, 422);
        assert.deepEqual(Object.keys(refused.body.details ?? {}), ['overlap_seconds']);
      }
    });

    it('tells how its receiver does, and forgets it when it is changed in a way that may mend it', async () => {
      const webhook = await create();
      const status = async () => {
        const answer = await admin.call('GET', `${path}/${webhook.id}/status`);
        return webhookStatusJson.strict().parse(answer.body.data);
      };
      const fail = () =>
        admin.database.query({
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
        await admin.call('PATCH', `${path}/${webhook.id}`, {
          name: 'renamed',
          enabled: !('enabled' in change) || !change.enabled,
        });
        await fail();
        await admin.call('PATCH', `${path}/${webhook.id}`, change);
        assert.equal((await status()).failures, 0, JSON.stringify(change));
      }
      await fail();
      await admin.call('PATCH', `${path}/${webhook.id}`, { name: 'another', url: 'https://b.example/' });
      assert.equal((await status()).state, 'paused');
      await test(webhook.id);
      const { paused_until: now, pending } = await status();
      assert.ok(now && now <= Date.now() / 1000 + 60, 'a test is not made to wait');
      assert.equal(pending, 1);
    });
  });

  describe('deliveries', () => {
    it('of a test are shown with their payload', async () => {
      const webhook = await create();
      const delivery = await test(webhook.id);
      assert.equal(delivery.event, 'webhooks.test');
      assert.equal(delivery.status, 'pending');
      assert.deepEqual([delivery.attempt, delivery.attempts, delivery.completed_at], [0, [], null]);
      assert.ok(delivery.next_attempt_at);
      assert.equal(delivery.payload.event, 'webhooks.test');
      assert.equal(delivery.payload.id, delivery.event_id);
      const one = await admin.call('GET', `${path}/${webhook.id}/deliveries/${delivery.id}`);
      assert.deepEqual(one.body.data, delivery);
    });

    it('are listed newest first, by page, status and event', async () => {
      const webhook = await create();
      const made = [await test(webhook.id), await test(webhook.id), await test(webhook.id)];
      await end(made[0]?.id ?? '', 'dead');
      const list = async (search: string) => {
        const { status, body } = await admin.call('GET', `${path}/${webhook.id}/deliveries${search}`);
        assert.equal(status, 200);
        return {
          ...body,
          data: (body.data as { id: string }[]).map(({ id }) => made.findIndex((one) => one.id === id)),
        };
      };
      assert.deepEqual(await list(''), { data: [2, 1, 0], page: 1, perPage: 30, totalItems: 3, totalPages: 1 });
      assert.deepEqual(await list('?page=2&perPage=2'), {
        data: [0],
        page: 2,
        perPage: 2,
        totalItems: 3,
        totalPages: 2,
      });
      assert.deepEqual((await list('?status=dead')).data, [0]);
      assert.deepEqual((await list('?event=webhooks.test')).data, [2, 1, 0]);
      assert.deepEqual(await list('?event=posts.create'), {
        data: [],
        page: 1,
        perPage: 30,
        totalItems: 0,
        totalPages: 0,
      });
      for (const bad of ['?page=x', '?perPage=1.5', '?status=done'])
        assert.equal((await admin.call('GET', `${path}/${webhook.id}/deliveries${bad}`)).status, 400, bad);
    });

    it('are made again of the same event', async () => {
      const webhook = await create();
      const first = await test(webhook.id);
      const { status, body } = await admin.call('POST', `${path}/${webhook.id}/deliveries/${first.id}/redeliver`);
      assert.equal(status, 201);
      const second = deliveryJson.strict().parse(body.data);
      assert.notEqual(second.id, first.id);
      assert.equal(second.event_id, first.event_id);
      assert.deepEqual(second.payload, first.payload);
    });

    it('are replayed since a time, each event once', async () => {
      const webhook = await create();
      const made = [await test(webhook.id), await test(webhook.id), await test(webhook.id)];
      await end(made[0]?.id ?? '', 'dead');
      await end(made[1]?.id ?? '', 'success');
      const replay = async (body: object) => (await admin.call('POST', `${path}/${webhook.id}/replay`, body)).body.data;
      assert.deepEqual(await replay({ since: 0, status: 'dead' }), { count: 1 });
      assert.deepEqual(await replay({ since: 0 }), { count: 2 });
      assert.deepEqual(await replay({ since: Math.floor(Date.now() / 1000) + 100 }), { count: 0 });
      for (const [field, body] of [
        ['since', {}],
        ['since', { since: 'yesterday' }],
        ['status', { since: 0, status: 'done' }],
      ] as const) {
        const answer = await admin.call('POST', `${path}/${webhook.id}/replay`, body);
        assert.deepEqual([answer.status, Object.keys(answer.body.details ?? {})], [422, [field]]);
      }
    });

    it('go with their webhook also while the outcome of one is being recorded: the two never deadlock', async () => {
      const webhook = await create();
      const { id } = await test(webhook.id);
      let deleting: Promise<{ status: number }> | undefined;
      // As who records outcomes does: the place in the queue first, the delivery after it.
      await admin.database.transaction(async (query) => {
        await query({ text: 'delete from system.delivery_queue where delivery_id = $1', values: [id] });
        deleting ??= admin.call('DELETE', `${path}/${webhook.id}`);
        await eventually(async () => {
          const waiting = await admin.database.query({
            text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            values: [],
          });
          return waiting.length > 0;
        });
        // Who waits for the queue must not hold the delivery.
        await query({ text: 'select 1 from system.deliveries where id = $1 for update nowait', values: [id] });
      });
      assert.equal((await deleting)?.status, 200);
    });

    it('go with their webhook', async () => {
      const webhook = await create();
      await test(webhook.id);
      await admin.call('DELETE', `${path}/${webhook.id}`);
      const left = await admin.database.query({
        text: 'select id from system.deliveries where webhook_id = $1 union select delivery_id from system.delivery_queue where webhook_id = $1',
        values: [webhook.id],
      });
      assert.deepEqual(left, []);
    });
  });

  describe('an id that nobody has', () => {
    const requests: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/regenerate-secret'],
      ['GET', '/deliveries'],
      ['GET', `/deliveries/${nobody}`],
      ['GET', '/deliveries/x'],
      ['POST', `/deliveries/${nobody}/redeliver`],
      ['POST', '/replay', { since: 0 }],
    ];
    for (const [method, suffix, body] of requests)
      it(`is 404 for ${method} ${suffix || 'the webhook'}`, async () => {
        const answer = await admin.call(method, `${path}/${nobody}${suffix}`, body);
        assert.equal(answer.status, 404);
        assert.equal(answer.body.code, 'not_found');
      });

    it('of a delivery is 404 under another webhook', async () => {
      const [one, other] = [await create(), await create()];
      const delivery = await test(one.id);
      assert.equal((await admin.call('GET', `${path}/${other.id}/deliveries/${delivery.id}`)).status, 404);
    });
  });

  it('is closed to all but admins', async () => {
    assert.equal((await admin.call('GET', path, undefined, { type: 'guest', rejectedToken: false })).status, 401);
    const user = {
      type: 'user',
      id: someAdmin.id,
      email: 'u@example.com',
      collection: 'users',
      anonymous: false,
      impersonatedBy: null,
    } as const;
    assert.equal((await admin.call('GET', path, undefined, user)).status, 403);
  });
});
