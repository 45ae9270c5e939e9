import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { createClient } from '../../harness/clients/client.ts';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { textAt } from '../../harness/json.ts';
import { mint } from '../../harness/sign-in/tokens.ts';
import { topologiesOrInCi } from '../../harness/stacks/target.ts';
import { startReplicas } from '../replicas/start-replicas.ts';
import { createNotes, join, type Person, password } from './notes.ts';

for (const topology of topologiesOrInCi('one'))
  test(`rights that end at one replica end the other's connections (${topology})`, async (t) => {
    await using replicas = await startReplicas(topology);
    const { first, second, ground } = replicas;
    await createNotes(first);
    const admin = await first.admin();
    const follow = async (token: string, ...collections: readonly string[]): Promise<LiveClient> => {
      const subscriptions = collections.map((collection) => ({ collection, id: collection }));
      const live = await openLive(second.url, subscriptions, { token });
      await live.arrived('ready');
      return live;
    };
    /** Measures from the rights' change to its message. */
    const tells = async (live: LiveClient, type: string, change: () => Promise<unknown>) => {
      const beganAtMs = performance.now();
      await change();
      const [told] = await live.arrived(type);
      t.diagnostic(`${type}: ${Math.round(performance.now() - beganAtMs)} ms`);
      return told?.data;
    };

    const endings: readonly (readonly [string, (person: Person) => Promise<unknown>])[] = [
      ['a sign-out', ({ client }) => client.send('POST', '/api/v1/auth/people/logout')],
      ['a deleted account', ({ id }) => admin.delete(`/api/v1/people/${id}`)],
      [
        'a changed password',
        ({ client, id }) => client.patch(`/api/v1/people/${id}`, { password: `${password} 2`, old_password: password }),
      ],
    ];
    for (const [n, [name, end]] of endings.entries())
      await t.test(`${name} [realtime §5.1]`, async () => {
        const person = await join(first, `person${n}`);
        await using live = await follow(person.token, 'notes');
        await tells(live, 'revoked', () => end(person));
        await live.closed();
      });

    await t.test('a token that expires [realtime §5.1]', async () => {
      const { token } = await join(first, 'short');
      const claims = decodeJwt(token);
      // A busy machine may take longer than the first lifetimes to open the connection.
      const open = async (lifetimeSec: number): Promise<LiveClient> => {
        const exp = Math.floor(Date.now() / 1000) + lifetimeSec;
        const short = await mint(ground.secret, { ...claims, exp });
        const opened = await openLive(second.url, [{ collection: 'notes' }], { token: short });
        return opened.status === 200 ? opened : open(2 * lifetimeSec);
      };
      await using live = await open(5);
      await live.arrived('revoked');
      await live.closed();
      assert.ok(Date.now() / 1000 < Number(claims.exp));
    });

    await t.test('an impersonation whose admin is deleted [realtime §5.1]', async () => {
      const user = await join(first, 'acted');
      const credentials = { email: 'second@example.com', password };
      const { id } = await admin.post('/api/v1/admin/admins', credentials);
      const session = await first.guest.post('/api/v1/admin/login', credentials, 200);
      const other = createClient(first.url, textAt(session, 'token'));
      const { token } = await other.post(`/api/v1/admin/impersonate/people/${user.id}`, undefined, 200);
      await using acting = await follow(String(token), 'notes');
      await using own = await follow(user.token, 'notes');
      await tells(acting, 'revoked', () => admin.delete(`/api/v1/admin/admins/${id}`));
      await acting.closed();
      assert.equal(own.isClosed, false);
    });

    await t.test('a membership [realtime §5.3]', async () => {
      const ann = await join(first, 'ann');
      const team = await admin.create('teams', { name: 'a' });
      const membership = await admin.create('memberships', { user: ann.id, team: team.id });
      await using live = await follow(ann.token, 'papers', 'notes');
      await admin.create('papers', { title: 'one', team: team.id });
      await live.arrived('create');
      const resync = await tells(live, 'resync', () => admin.delete(`/api/v1/memberships/${membership.id}`));
      assert.equal(resync?.reason, 'access');
      await admin.create('papers', { title: 'two', team: team.id });
      await admin.create('notes', { text: 'after it' });
      const created = await live.arrived('create', 2);
      assert.deepEqual(
        created.map(({ data }) => data.sub),
        ['papers', 'notes'],
      );
    });

    await t.test('a rule [realtime §5.2]', async () => {
      const bob = await join(first, 'bob');
      await using live = await follow(bob.token, 'notes');
      const refused = await tells(live, 'error', () => admin.patch('/api/v1/collections/notes', { list_rule: '' }));
      assert.equal(refused?.code, 'forbidden');
      await admin.create('notes', { text: 'closed' });
      assert.ok(live.messages.every(({ type }) => type !== 'create'));
    });
  });
