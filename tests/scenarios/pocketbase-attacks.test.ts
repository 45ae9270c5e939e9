import assert from 'node:assert/strict';
import { request } from 'node:http';
import { objectAt } from '../harness/json.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { outcomeOf } from '../pocketbase-clients/normalize.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { raw } from '../pocketbase-clients/row.ts';
import { castOf, idOf, password } from '../pocketbase-clients/side.ts';

const statusOf = (answer: unknown) => Number(Object(answer).status);

/** Sends a form's beginning, and returns the answer. The rest never comes. */
function beginForm(
  url: string,
  authorization: string,
  begin: string,
  method = 'POST',
): Promise<{ status: number | undefined }> {
  const headers = { authorization, 'content-type': 'multipart/form-data; boundary=x', 'content-length': '1000000' };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers });
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      resolve({ status: answer.statusCode });
      outgoing.on('error', () => {}).destroy();
    });
    outgoing.write(begin);
  });
}

onEachTopology("PocketBase's clients get nothing that the product refuses", async (t, target) => {
  const cast = await castOf(ourSide(target));
  const { guest, alice, bob, admin, url } = cast;
  const note = await alice.collection('notes').create({ text: 'secret', author: idOf(alice) });
  const post = await alice.collection('posts').create({ title: 'open', author: idOf(alice) });
  await admin.collection('posts').update(post.id, { secret: 'hidden' });

  await t.test("another account's record stays hidden by every way to it", async () => {
    const batch = bob.createBatch();
    batch.collection('notes').update(note.id, { text: 'bob' });
    const upsert = bob.createBatch();
    upsert.collection('notes').upsert({ id: note.id, text: 'bob', author: idOf(bob) });
    const attempts = [
      () => bob.collection('notes').getOne(note.id),
      () => bob.collection('notes').update(note.id, { author: idOf(bob) }),
      () => bob.collection('notes').delete(note.id),
      () => bob.collection('notes').create({ id: note.id, text: 'bob', author: idOf(bob) }),
      () => bob.collection('notes').getFirstListItem(`id = "${note.id}"`),
      () => batch.send(),
      () => upsert.send(),
      () => bob.collection('users').update(idOf(alice), { name: 'bob' }),
      () => bob.collection('users').update(idOf(alice), { password, passwordConfirm: password, oldPassword: password }),
    ];
    for (const attempt of attempts) {
      const outcome = await outcomeOf(attempt);
      assert.ok('status' in outcome && [400, 404].includes(outcome.status), JSON.stringify(outcome));
    }
    assert.equal((await alice.collection('notes').getOne(note.id)).text, 'secret');
  });

  await t.test('hidden members stay hidden in fields, filters, sorts and expansions', async () => {
    const [record] = await guest
      .collection('posts')
      .getFullList({ fields: '*,secret', expand: 'author,author.posts_via_author' });
    assert.ok(record);
    assert.deepEqual([record.secret, record.expand], [undefined, {}]);
    for (const filter of [
      'secret = "hidden"',
      'author.email ~ "alice"',
      'posts_via_author.secret = "hidden"',
      'author.passwordHash ~ "a"',
    ])
      assert.ok(
        [400, 200].includes(
          statusOf(await raw(cast, 'GET', `/api/collections/posts/records?filter=${encodeURIComponent(filter)}`)),
        ),
      );
    const found = await outcomeOf(() => guest.collection('posts').getFullList({ filter: 'author.email ~ "alice"' }));
    assert.ok(!('value' in found) || Object(found.value).length === 0, 'a guest finds no address by guessing');
    for (const sort of ['secret', '-secret', 'password', 'tokenKey'])
      assert.equal(statusOf(await raw(cast, 'GET', `/api/collections/posts/records?sort=${sort}`)), 400, sort);
  });

  await t.test('the paths lead only to records, files and accounts', async () => {
    const paths = [
      '/api/collections/posts%2F..%2F..%2Fadmin/records',
      '/api/collections/posts/records/..',
      '/api/collections/posts/records/%2E%2E',
      '/api/collections/posts/records/..%2F..%2Fadmin%2Fsettings',
      '/api/files/posts/../admin/settings',
      '/api/files/posts/%2E%2E/admin',
      '/api/collections/admin/records',
      '/api/v1/admin/settings',
      '/api//collections',
      '/api/collections/%E0%A4%A',
    ];
    for (const path of paths) {
      const answer = await target.guest.send('GET', `/pb${path}`);
      // A client may write `..` shorter, and then it is a read of definitions. A path that is not text is 400.
      assert.ok([400, 401, 404].includes(answer.status), `${path}: ${answer.status}`);
    }
  });

  await t.test('long and deep requests are refused', async () => {
    const list = (query: string) => raw(cast, 'GET', `/api/collections/posts/records?${query}`);
    assert.equal(statusOf(await list(`filter=${'title=1||'.repeat(5000)}title=1`)), 400);
    assert.equal(statusOf(await list(`filter=${'('.repeat(5000)}`)), 400);
    assert.equal(statusOf(await list(`filter=${'a'.repeat(1024 * 1024)}`)), 431);
    assert.equal(statusOf(await list(`sort=${'title,'.repeat(100)}`)), 400);
    assert.equal(statusOf(await list(`expand=${'author.'.repeat(100)}`)), 200);
    const create = (body: string) => raw(cast, 'POST', '/api/collections/tags/records', { body });
    assert.equal(statusOf(await create(`{"name":"${'a'.repeat(1024 * 1024)}"}`)), 413);
    assert.equal(statusOf(await create('['.repeat(100_000))), 400);
    assert.equal(statusOf(await create(`{"name":${'['.repeat(2000)}${']'.repeat(2000)}}`)), 400);
    assert.equal(statusOf(await create('{"__proto__":{"name":"x"},"name":"y"}')), 200);
  });

  await t.test('a form that a closed rule refuses is answered before its files have arrived', async () => {
    const head = (name: string) =>
      `--x\r\ncontent-disposition: form-data; name="${name}"; filename="a.txt"\r\n\r\nthe beginning`;
    const { status } = await beginForm(`${url}/api/collections/closed/records`, alice.authStore.token, head('file'));
    assert.equal(status, 403);
    const other = `${url}/api/collections/notes/records/nothing`;
    assert.equal((await beginForm(other, alice.authStore.token, head('paper'), 'PATCH')).status, 404);
  });

  await t.test("an account's token refreshes in no other collection", async () => {
    await (await target.admin()).post('/api/v1/collections', { name: 'tenants', type: 'auth' });
    const headers = { authorization: alice.authStore.token };
    const refresh = async (name: string) =>
      statusOf(await raw(cast, 'POST', `/api/collections/${name}/auth-refresh`, { headers }));
    assert.deepEqual([await refresh('users'), await refresh('tenants')], [200, 403]);
  });

  await t.test('a token says nothing that its signature does not', async () => {
    const [head = '', , signature = ''] = bob.authStore.token.split('.');
    const claims = { id: 'x', aud: 'admin', type: 'auth', collectionId: 'pbc_3142635823', exp: 4_000_000_000 };
    const forged = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
    const headers = { authorization: forged };
    assert.equal(statusOf(await raw(cast, 'GET', '/api/collections/closed/records', { headers })), 403);
    assert.equal(statusOf(await raw(cast, 'GET', '/api/collections', { headers })), 401);
    assert.equal(statusOf(await raw(cast, 'POST', '/api/collections/_superusers/auth-refresh', { headers })), 400);
    const body = { secret: 'forged' };
    assert.ok(
      statusOf(await raw(cast, 'PATCH', `/api/collections/posts/records/${post.id}`, { headers, body })) >= 400,
    );
    assert.equal((await admin.collection('posts').getOne(post.id)).secret, 'hidden');
  });

  await t.test('a token is the same session for both kinds of clients', async () => {
    const headers = { authorization: `Bearer ${alice.authStore.token}` };
    const own = await target.guest.send('GET', '/api/v1/auth/users/sessions', { headers });
    assert.equal(own.status, 200);
    const login = await target.guest.send('POST', '/api/v1/auth/users/login', {
      body: { email: 'alice@example.com', password },
    });
    const { token } = objectAt(login.json, 'data');
    const record = await raw(cast, 'GET', `/api/collections/notes/records/${note.id}`, {
      headers: { authorization: String(token) },
    });
    assert.equal(statusOf(record), 200);
  });

  await t.test('both kinds of clients share one rate limit', async () => {
    const settings = followedEverywhere(await target.admin());
    const rules = [{ label: '*:auth', max: 5, windowMs: 60_000, audience: 'all' }];
    await settings.patch('/api/v1/admin/settings', {
      'rate_limit.enabled': '1',
      'rate_limit.rules': JSON.stringify(rules),
    });
    const body = { identity: 'nobody@example.com', password: 'wrong' };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      statuses.push(statusOf(await raw({ url }, 'POST', '/api/collections/users/auth-with-password', { body })));
      statuses.push((await target.guest.send('POST', '/api/v1/auth/users/login', { body })).status);
    }
    await settings.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0', 'rate_limit.rules': '' });
    assert.deepEqual(new Set(statuses.slice(-2)), new Set([429]), statuses.join());
    assert.ok(statuses.includes(400) && statuses.includes(401), statuses.join());
  });
});
