import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Client, createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import type { Replicas } from './start-replicas.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth/readers';

/** A token that ends on one replica ends on the other, with the bus and without it. */
export async function revocation(t: TestContext, { ground, first, second }: Replicas): Promise<void> {
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'readers', type: 'auth' });

  const signedIn = async (email: string) => {
    const session = await first.guest.post(`${auth}/register`, { email, password });
    const clientOf = (url: string) => createClient(url, textAt(session, 'token'));
    const [here, there] = [clientOf(first.url), clientOf(second.url)];
    await eventually('the other replica has the user', async () => (await statusOf(there)) === 200);
    return { here, there, id: textAt(session, 'record.id') };
  };
  const statusOf = async (client: Client): Promise<number> => (await client.get(`${auth}/sessions`)).status;
  const ended = (client: Client) => eventually('the token has ended', async () => (await statusOf(client)) === 401);
  const endings: Record<string, (user: Awaited<ReturnType<typeof signedIn>>) => Promise<unknown>> = {
    'a new password': ({ here }) =>
      here.post(`${auth}/change-password`, { old_password: password, password: `${password}!` }, 200),
    'a sign-out': ({ here }) => here.send('POST', `${auth}/logout`),
    'a new password by an admin': ({ id }) => admin.patch(`/api/v1/readers/${id}`, { password: `${password}!` }),
    'a deleted user': ({ id }) => admin.delete(`/api/v1/readers/${id}`),
  };

  await t.test('an account that sign_in_rule no longer admits [auth §4.5]', async () => {
    await admin.patch('/api/v1/collections/readers', { sign_in_rule: 'email != "shut@example.com"' });
    const [user, other] = [await signedIn('open@example.com'), await signedIn('other@example.com')];
    await admin.patch(`/api/v1/readers/${user.id}`, { email: 'shut@example.com' });
    await ended(user.there);
    await ended(user.here);
    assert.equal(await statusOf(other.there), 200);
    const body = { email: 'shut@example.com', password };
    for (const { guest } of [first, second])
      assert.equal((await guest.send('POST', `${auth}/login`, { body })).status, 403);
    await admin.patch('/api/v1/collections/readers', { sign_in_rule: null });
  });

  for (const [what, end] of Object.entries(endings))
    await t.test(what, async () => {
      const user = await signedIn(`${what.replaceAll(' ', '.')}@example.com`);
      await end(user);
      await ended(user.here);
      await ended(user.there);
    });

  await t.test('a new password while the bus is stopped', async () => {
    const user = await signedIn('quiet@example.com');
    await ground.bus.stop();
    await admin.patch(`/api/v1/readers/${user.id}`, { password: `${password}!` });
    await ended(user.there);
    await ended(user.here);
    await ground.bus.start();
  });

  await t.test("a dropped collection's tokens end", async () => {
    const user = await signedIn('last@example.com');
    await admin.delete('/api/v1/collections/readers');
    const isGuest = async (client: Client) => (await client.get('/api/v1/auth/members/sessions')).status;
    await admin.post('/api/v1/collections', { name: 'members', type: 'auth' });
    await eventually('the token has ended', async () => (await isGuest(user.there)) === 401);
  });
}
