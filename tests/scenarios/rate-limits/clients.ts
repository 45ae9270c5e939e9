import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Client } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { type LimitedCall, type LimitedStack, newAddress } from './limited-stack.ts';

/** For which client a request counts. */
export async function clients(t: TestContext, stack: LimitedStack): Promise<void> {
  const { admin, gateways, tokens, setRules, call, countAllowed } = stack;

  await t.test('only a client over its limit is refused [http §8.7]', async () => {
    await setRules([
      { label: '/api/v1/notes', max: 2 },
      { label: '*:auth', max: 2 },
    ]);
    const notes = '/api/v1/notes';
    const { ann, bob, admin: adminToken } = tokens;
    const useUp = async (limited: LimitedCall) => assert.equal(await countAllowed(3, limited), 2);
    const isAllowed = async (limited: LimitedCall) => (await call(limited)).status !== 429;
    await useUp({ path: notes, from: '192.0.2.1' });
    assert.ok(await isAllowed({ path: notes, from: '192.0.2.2' }), 'another address');
    assert.ok(await isAllowed({ path: notes, from: '192.0.2.1', token: ann }), 'a user at that address');
    assert.ok(!(await isAllowed({ path: notes, from: '192.0.2.1', token: 'expired' })), 'an invalid token');

    await useUp({ path: notes, from: '2001:db8:1:2::1' });
    assert.ok(!(await isAllowed({ path: notes, from: '2001:db8:1:2:ffff::9' })), 'the same /64');
    assert.ok(await isAllowed({ path: notes, from: '2001:db8:1:3::1' }), 'another /64');

    assert.ok(await isAllowed({ path: notes, token: ann }));
    assert.ok(!(await isAllowed({ path: notes, token: ann })), 'a user, from any address');
    assert.ok(await isAllowed({ path: notes, token: bob }), 'another user');
    await useUp({ path: notes, token: adminToken });

    const login = { method: 'POST', path: '/api/v1/auth/people/login', body: {} };
    assert.equal(await countAllowed(2, { ...login, from: '192.0.2.7', token: ann }), 2);
    assert.ok(!(await isAllowed({ ...login, from: '192.0.2.7', token: bob })), 'sign-in is counted by address');
    assert.ok(await isAllowed({ ...login, from: '192.0.2.8', token: ann }), 'a signed-in user');
    await setRules([{ label: '/api/v1/auth/*', max: 2 }]);
    assert.equal(await countAllowed(2, { ...login, from: '192.0.2.9', token: ann }), 2);
    assert.ok(!(await isAllowed({ ...login, from: '192.0.2.9', token: bob })), 'under a rule for paths too');
  });

  await t.test('X-Forwarded-For is read from the right, without trusted addresses [http §9.2]', async () => {
    await setRules([{ label: '/api/v1/notes', max: 1 }]);
    const assertCountedAs = async (from: string, address: string) => {
      assert.equal((await call({ path: '/api/v1/notes', from: address })).status, 200, address);
      assert.equal((await call({ path: '/api/v1/notes', from })).status, 429, `${from} as ${address}`);
    };
    await assertCountedAs('1.1.1.1, 198.51.100.1', '198.51.100.1');
    await assertCountedAs('198.51.100.2, 203.0.113.7, 127.0.0.9', '198.51.100.2');
    await assertCountedAs('198.51.100.3:4711', '198.51.100.3');
    await assertCountedAs('::ffff:198.51.100.4', '198.51.100.4');
    await assertCountedAs('[2001:DB8:77:0::1]:80', '2001:db8:77::1');
    await assertCountedAs('198.51.100.5, rubbish, 203.0.113.8', '203.0.113.8');
  });

  await t.test('the setting overrides the environment: an untrusted peer is the client [http §9.1]', async () => {
    await setRules([{ label: '/api/v1/notes', max: 1, audience: 'guest' }]);
    const statusAt = async (gateway: Client) =>
      (await gateway.send('GET', '/api/v1/notes', { headers: { 'X-Forwarded-For': newAddress() } })).status;
    const expectAll = async (status: number) => {
      for (const gateway of gateways)
        await eventually(`every client gets ${status}`, async () => (await statusAt(gateway)) === status);
    };
    await expectAll(200);
    await admin.patch('/api/v1/admin/settings', { 'security.trusted_proxies': '192.0.2.0/24' });
    await expectAll(429);
    await admin.patch('/api/v1/admin/settings', { 'security.trusted_proxies': '' });
    await expectAll(200);
  });

  await t.test('the audit log names the client, not the proxy [http §9.4]', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.77' };
    const body = { 'app.url': 'https://app.example.com' };
    assert.equal((await admin.send('PATCH', '/api/v1/admin/settings', { headers, body })).status, 200);
    const audit = await admin.get('/api/v1/admin/audit?action=settings.update&perPage=1');
    assert.equal(at(audit.json, 'data.0.ip'), '198.51.100.77');
  });
}
