import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { at, textAt } from '../../harness/json.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, badPasskey, type Member, type Members, outcome, passkeys, password } from './members.ts';

/** The owner manages passkeys, and an admin removes lost ones. */
export async function removing(t: TestContext, target: Target, members: Members): Promise<void> {
  const { admin } = members;
  const { guest } = target;
  const idOf = async (member: Member) => textAt((await members.listOf(member)).at(-1), 'id');

  await t.test('the owner lists, renames and removes them', async () => {
    const owner = await members.register();
    const other = await members.register();
    const authenticator = await members.withPasskey(owner);
    const id = await idOf(owner);
    const rename = (client = owner.client, body: object = { name: 'Laptop' }) =>
      client.send('PATCH', `${passkeys}/${id}`, { body });
    assert.equal((await rename(other.client)).status, 404);
    assert.equal((await rename(owner.client, { name: '' })).status, 422);
    assert.equal((await rename(guest)).status, 401);
    assert.equal(at((await rename()).json, 'data.name'), 'Laptop');
    assert.equal((await members.listOf(owner))[0]?.name, 'Laptop');
    assert.equal((await members.remove(other, id)).status, 404);
    assert.equal((await members.remove(owner, '%00')).status, 404);
    const answers = await Promise.all([members.remove(owner, id), members.remove(owner, id)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
    assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { data: { removed: id } });
    assert.deepEqual(outcome(await members.signIn(authenticator)), badPasskey);
    assert.deepEqual((await members.actionsOn(owner)).toSorted(), ['users.passkey_add', 'users.passkey_remove']);
  });

  await t.test('a removal needs the proof', async () => {
    const owner = await members.register();
    await members.withPasskey(owner);
    const id = await idOf(owner);
    const past = 'update system.sessions set signed_in_at = signed_in_at - 601 where account_id = $1';
    await inDatabase(target, past, [owner.id]);
    assert.deepEqual(outcome(await members.remove(owner, id)), [403, 'proof_required']);
    assert.deepEqual(outcome(await members.remove(owner, id, { old_password: 'wrong' })), [403, 'proof_required']);
    assert.equal((await members.remove(owner, id, { old_password: password })).status, 200);
  });

  await t.test('the last way in stays, also when two are removed at once', async () => {
    const owner = await members.register();
    await members.withPasskey(owner);
    await members.withPasskey(owner);
    await inDatabase(target, 'update records.members set password_hash = null where id = $1', [owner.id]);
    const ids = (await members.listOf(owner)).map(({ id }) => String(id));
    const answers = await Promise.all(ids.map((id) => members.remove(owner, id)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    assert.deepEqual(outcome(await members.remove(owner, await idOf(owner))), [409, 'last_way_in']);
    await inDatabase(
      target,
      `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
        select id, 'github', $1, $1, 1 from system.collections where name = 'members'`,
      [owner.id],
    );
    const unlink = () => owner.client.send('DELETE', `${auth}/oauth2/github/unlink`, { body: {} });
    assert.equal((await unlink()).status, 200, 'the passkey is another way in');
    assert.deepEqual(outcome(await members.remove(owner, await idOf(owner))), [409, 'last_way_in']);
  });

  await t.test('an admin sees and removes them, but not the last way in [admins §8.3]', async () => {
    const owner = await members.register();
    const lost = await members.withPasskey(owner);
    const id = await idOf(owner);
    const account = `/api/v1/admin/users/members/${owner.id}`;
    const remove = (path = id, client = admin) => client.send('DELETE', `${account}/passkeys/${path}`);
    assert.equal(at((await admin.get(account)).json, 'data.passkeys.0.id'), id);
    assert.deepEqual([(await remove(id, guest)).status, (await remove(id, owner.client)).status], [401, 403]);
    assert.deepEqual([(await remove('unknown')).status, (await remove('%00')).status], [404, 404]);
    const removed = await remove();
    assert.deepEqual([removed.status, at(removed.json, 'data.passkeys')], [200, []]);
    assert.deepEqual(outcome(await members.signIn(lost)), badPasskey);
    assert.ok((await members.actionsOn(owner)).includes('users.passkey_remove'));
    await members.withPasskey(owner);
    await inDatabase(target, 'update records.members set password_hash = null where id = $1', [owner.id]);
    assert.deepEqual(outcome(await remove(await idOf(owner))), [409, 'last_way_in']);
  });
}
