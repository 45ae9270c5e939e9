import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { cutMembers } from '@recordbus/bus';
import type { EventVerdict, LiveCaller, LiveEvent, LiveReads, LiveRequest, OpenedPlan } from '@recordbus/live';
import { inRequest } from '@recordbus/request/request-scope';
import { type RecordsFixture, type Sent, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const rules = (list: string | null, view = list) => ({ list, view, create: null, update: null, delete: null });

const userOf = (id: string): LiveCaller => ({
  principal: { type: 'user', id, email: `${id}@x.org`, collection: 'users', anonymous: false, impersonatedBy: null },
  headers: {},
  query: {},
});
const guest: LiveCaller = { principal: { type: 'guest', rejectedToken: false }, headers: {}, query: {} };
const admin: LiveCaller = { principal: { type: 'admin', id: 'a1', email: 'a@x.org' }, headers: {}, query: {} };

for (const way of ['in the process', 'over HTTP'] as const)
  describe(`judging events for live subscriptions ${way}`, { skip: skipWithoutDatabase }, () => {
    let records: RecordsFixture;
    let live: LiveReads;

    before(async () => {
      records = await startRecords([
        testCollection(
          'users',
          [
            { name: 'email', type: 'email' },
            { name: 'verified', type: 'bool' },
          ],
          { type: 'auth' },
        ),
        testCollection('open', [{ name: 'title' }, { name: 'n', type: 'number' }, { name: 'doc', type: 'json' }]),
        testCollection(
          'owned',
          [{ name: 'owner' }, { name: 'title' }, { name: 'secret', viewRule: 'owner = @request.auth.id' }],
          {
            rules: rules('owner = @request.auth.id || title = "public"'),
          },
        ),
        testCollection('orgs', [{ name: 'name' }, { name: 'boss', type: 'relation', collection: 'users' }]),
        testCollection('members', [
          { name: 'org', type: 'relation', collection: 'orgs' },
          { name: 'user', type: 'relation', collection: 'users' },
          { name: 'role' },
        ]),
        testCollection('tasks', [{ name: 'org', type: 'relation', collection: 'orgs' }, { name: 'title' }], {
          rules: rules(
            'exists(members, org = record.org && user = @request.auth.id && role != "left") || org.boss = @request.auth.id',
          ),
        }),
        testCollection('closed', [{ name: 'title' }], { rules: rules('') }),
      ]);
      live = way === 'in the process' ? records.live : records.liveOverHttp;
    });
    after(() => records?.stop());

    async function opened(request: LiveRequest, caller: LiveCaller): Promise<OpenedPlan> {
      const [result] = await live.open([{ request, caller }]);
      assert.ok(result && 'plan' in result, JSON.stringify(result));
      return result;
    }

    async function refusal(request: LiveRequest, caller: LiveCaller): Promise<number> {
      const [result] = await live.open([{ request, caller }]);
      assert.ok(result && 'refusal' in result);
      return result.refusal.status;
    }

    let lastEvent = 0;
    /** The events from writes since the last call. */
    async function takeEvents(): Promise<LiveEvent[]> {
      const rows = await records.database.query<{ id: number; body: string }>({
        text: 'select id, body from system.outbox where id > $1 order by id',
        values: [lastEvent],
      });
      lastEvent = rows.at(-1)?.id ?? lastEvent;
      return rows.map(({ body }) => {
        const { id, event, version, schema } = JSON.parse(body);
        return { id, verb: event.split('.')[1], version, schema, data: cutMembers(body).get('data') };
      });
    }

    async function judge(
      subscriptions: readonly OpenedPlan[],
      events: readonly LiveEvent[],
    ): Promise<readonly EventVerdict[]> {
      const [first] = subscriptions;
      assert.ok(first);
      for (const { plan } of subscriptions) assert.equal(plan.key, first.plan.key);
      const callers = subscriptions.map(({ values }) => values);
      const verdicts = await live.judge({ plan: first.plan, events, client: 'test', callers });
      assert.ok(!verdicts.isStale);
      return verdicts.events;
    }

    const write = async (method: string, path: string, body: unknown, as: Sent['as'] = 'admin') => {
      const answer = await records.send(method, `/api/${path}`, { as, body });
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };

    it('refuses as a get does', async () => {
      assert.equal(await refusal({ collection: 'none' }, guest), 404);
      assert.equal(await refusal({ collection: 'closed' }, guest), 403);
      assert.equal(await refusal({ collection: 'open', filter: 'title = ' }, guest), 400);
      assert.equal(await refusal({ collection: 'open', expand: 'title' }, guest), 400);
      assert.equal(await refusal({ collection: 'open', filter: 'title = "a\0"' }, guest), 400);
    });

    it('shows an open record to everyone, as a get does', async () => {
      const subscription = await opened({ collection: 'open' }, guest);
      assert.equal(subscription.plan.readsValues, false);
      await takeEvents();
      const { record } = await write('POST', 'open', { title: 'a', n: 1e21, doc: { b: [1, null] } });
      const get = await records.send('GET', `/api/open/${record.id}`);
      const [verdict] = await judge([subscription], await takeEvents());
      assert.deepEqual(verdict, {
        before: [],
        now: 'all',
        records: [{ callers: 'all', json: get.text.slice('{"data":'.length, -1) }],
      });
      await write('PATCH', `open/${record.id}`, { title: 'b' });
      await write('DELETE', `open/${record.id}`, undefined);
      const [update, gone] = await judge([subscription], await takeEvents());
      assert.deepEqual([update?.before, update?.now, update?.records[0]?.changed], ['all', 'all', ['title']]);
      assert.deepEqual([gone?.before, gone?.now, gone?.records], ['all', [], []]);
    });

    it("judges all of a rule's callers in one statement, and shows each what it may view", async () => {
      const subscriptions = await Promise.all(
        ['u1', 'u2', 'u3'].map((id) => opened({ collection: 'owned' }, userOf(id))),
      );
      await takeEvents();
      const { record } = await write('POST', 'owned', { owner: 'u1', title: 'public', secret: 's' });
      await write('PATCH', `owned/${record.id}`, { title: 'mine', secret: 't' });
      await write('PATCH', `owned/${record.id}`, { owner: 'u2' });
      const [create, hide, give] = await judge(subscriptions, await takeEvents());
      assert.deepEqual([create?.before, sorted(create?.now)], [[], [0, 1, 2]]);
      const shown = new Map(create?.records.map(({ callers, json }) => [sorted(callers).join(), JSON.parse(json)]));
      assert.deepEqual([...shown.keys()].sort(), ['0', '1,2']);
      assert.equal(shown.get('0').secret, 's');
      assert.ok(!('secret' in shown.get('1,2')));
      assert.deepEqual(
        [sorted(hide?.before), hide?.now, hide?.records[0]?.changed],
        [[0, 1, 2], [0], ['title', 'secret']],
      );
      assert.deepEqual([give?.before, give?.now], [[0], [1]]);
    });

    it('judges many callers in several statements, each once', async () => {
      const callers = Array.from({ length: 1300 }, (_, n) => userOf(`m${n}`));
      const opened = await live.open(callers.map((caller) => ({ request: { collection: 'owned' }, caller })));
      const subscriptions = opened.filter((one) => 'plan' in one);
      await takeEvents();
      await write('POST', 'owned', { owner: 'u1', title: 'public', secret: 's' });
      await write('POST', 'owned', { owner: 'm1299', title: 'mine', secret: 's' });
      const [everyone, one] = (await takeEvents()) as [LiveEvent, LiveEvent];
      const events = Array.from({ length: 100 }, (_, n) => (n % 2 ? one : everyone));
      for (const fields of [undefined, 'title'])
        for (const [n, verdict] of (await judge(await withFields(subscriptions, callers, fields), events)).entries()) {
          const shown = verdict.records.flatMap(({ callers: those }) =>
            those === 'all' ? callers.map((_, c) => c) : those,
          );
          const expected = n % 2 ? [1299] : callers.map((_, c) => c);
          assert.deepEqual(
            [...shown].sort((a, b) => a - b),
            expected,
          );
          assert.equal(verdict.records.length, 1);
        }
    });

    async function withFields(subscriptions: readonly OpenedPlan[], callers: readonly LiveCaller[], fields?: string) {
      if (fields === undefined) return subscriptions;
      const request = { collection: 'owned', fields };
      return (await live.open(callers.map((caller) => ({ request, caller })))).filter((one) => 'plan' in one);
    }

    it('shares a plan between filters that differ in their literals, and records', async () => {
      const one = await opened({ collection: 'open', filter: 'title = "x" && n > 3' }, guest);
      const other = await opened({ collection: 'open', filter: 'title = "y" && n > 5' }, guest);
      await takeEvents();
      const { record } = await write('POST', 'open', { title: 'x', n: 4 });
      const events = await takeEvents();
      assert.deepEqual((await judge([other, one], events))[0]?.now, [1]);
      const followed = await opened({ collection: 'open', record: record.id }, guest);
      const unknown = await opened({ collection: 'open', record: 'none' }, guest);
      assert.deepEqual((await judge([unknown, followed], events))[0]?.now, [1]);
    });

    it('names the accounts that an event may concern, and the collections that a rule passes through', async () => {
      const id = async (path: string, body: object) => (await write('POST', path, body)).record.id;
      const password = 'correct horse battery';
      const [boss, member, left, stranger] = await Promise.all(
        ['boss', 'member', 'left', 'stranger'].map((name) => id('users', { email: `${name}@x.org`, password })),
      );
      assert.ok(boss && member && left && stranger);
      const org = await id('orgs', { name: 'o', boss });
      await id('members', { org, user: member, role: 'works' });
      await id('members', { org, user: left, role: 'left' });
      const subscriptions = await Promise.all(
        [boss, member, left, stranger].map((user) => opened({ collection: 'tasks' }, userOf(user))),
      );
      const [{ plan }] = subscriptions as [OpenedPlan];
      assert.equal(plan.hasCandidates, true);
      assert.deepEqual(plan.crossed, [
        {
          collection: 'members',
          collectionId: 'members',
          fields: ['org', 'user', 'role'],
          accountFields: ['user'],
          isCaller: false,
        },
        { collection: 'orgs', collectionId: 'orgs', fields: ['boss'], accountFields: ['boss'], isCaller: false },
      ]);
      await takeEvents();
      await write('POST', 'tasks', { org, title: 't' });
      await write('POST', 'tasks', { title: 'of nobody' });
      const events = await takeEvents();
      const candidates = await live.candidates({ plan, events, client: 'test' });
      assert.deepEqual([...(candidates ?? [])].sort(), [boss, member].sort());
      const [first, second] = await judge(subscriptions, events);
      assert.deepEqual([sorted(first?.now), second?.now], [[0, 1], []]);
    });

    it('checks no rule for admins', async () => {
      const subscription = await opened({ collection: 'closed' }, admin);
      await takeEvents();
      await write('POST', 'closed', { title: 'a' });
      assert.equal((await judge([subscription], await takeEvents()))[0]?.now, 'all');
    });

    it('reads the snapshot as a list and a get do', async () => {
      const { record } = await write('POST', 'owned', { owner: 'u7', title: 'first' });
      const list = await live.snapshot({ collection: 'owned', perPage: 5, filter: 'title = "first"' }, userOf('u7'));
      assert.deepEqual([JSON.parse(list.records), list.total], [[record], 1]);
      const one = await live.snapshot({ collection: 'owned', record: record.id, fields: 'title' }, userOf('u7'));
      assert.deepEqual(one, { records: `[{"id":"${record.id}","title":"first"}]` });
      await assert.rejects(live.snapshot({ collection: 'owned', record: record.id }, userOf('u8')), {
        status: 403,
      });
      await assert.rejects(live.snapshot({ collection: 'open', perPage: 1001 }, guest), { status: 400 });
      const none = await live.snapshot({ collection: 'owned', page: 9 }, guest);
      assert.equal(none.records, '[]');
    });

    it("does not occupy the client's place for a large snapshot while its connection is open", async () => {
      await write('POST', 'open', { title: 'x'.repeat(300_000) });
      const context = { requestId: 'r1', traceparent: '', clientAddress: '127.0.0.1', principal: guest.principal };
      for (let connection = 0; connection < 6; connection += 1) {
        const response = new ServerResponse(new IncomingMessage(new Socket()));
        const request = { collection: 'open', filter: 'title ~ "xxx"', sort: 'title' };
        const { records: text } = await inRequest(context, () => live.snapshot(request, guest), { response });
        assert.ok(text.length > 300_000);
      }
    });

    it('admits to channels by their rule', async () => {
      const admits = (rule: string | null, channel: string, caller: LiveCaller) =>
        live.admitsToChannel(rule, channel, caller);
      assert.deepEqual(await Promise.all([guest, admin].map((caller) => admits(null, 'a', caller))), [true, true]);
      assert.deepEqual(await Promise.all([guest, admin].map((caller) => admits('', 'a', caller))), [false, true]);
      const own = '@channel = @request.auth.id && "@channel" != @channel:lower';
      assert.deepEqual(
        await Promise.all([guest, userOf('u1'), userOf('u2'), admin].map((caller) => admits(own, 'u1', caller))),
        [false, true, false, true],
      );
      assert.deepEqual(await Promise.all([userOf('u1'), admin].map((it) => admits('nonsense =', 'a', it))), [
        false,
        true,
      ]);
    });

    it('knows when a rule has changed', async () => {
      const subscription = await opened({ collection: 'owned' }, userOf('u1'));
      assert.deepEqual(await live.isCurrent([subscription.plan]), [true]);
      await records.database.query({
        text: "update system.collections set list_rule = '' where name = 'owned'",
        values: [],
      });
      await records.database.query({
        text: "update system.versions set version = version + 1 where name = 'schema'",
        values: [],
      });
      assert.deepEqual(await live.isCurrent([subscription.plan]), [false]);
      assert.equal(await refusal({ collection: 'owned' }, userOf('u1')), 403);
      const verdicts = await live.judge({ plan: subscription.plan, events: [], client: 'test', callers: [] });
      assert.deepEqual(verdicts, { isStale: true });
    });
  });

const sorted = (callers: EventVerdict['now'] | undefined): (number | string)[] =>
  callers === undefined || callers === 'all' ? ['all'] : [...callers].sort();
