import assert from 'node:assert/strict';
import { startOidcServer } from '../harness/servers/oidc-server.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { provideEventSource } from '../pocketbase-clients/event-source.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { castOf, connect } from '../pocketbase-clients/side.ts';

provideEventSource();

onEachTopology("PocketBase's official client signs in at a provider", async (t, target) => {
  const { url } = await castOf(ourSide(target));
  const returnAddress = `${url}/api/oauth2-redirect`;
  await using provider = await startOidcServer(returnAddress);
  const admin = followedEverywhere(await target.admin());
  await admin.patch('/api/v1/admin/settings', { ...provider.settings(), 'oauth2.verified_email.users': '1' });
  const person = { id: 'grace', email: 'grace@example.com', email_verified: true };

  await t.test('in a window of its own, which brings the code to the stream of the client', async () => {
    const client = connect(url);
    const pages: string[] = [];
    const { record, meta, token } = await client.collection('users').authWithOAuth2({
      provider: 'oidc',
      createData: { name: 'Grace' },
      async urlCallback(address) {
        const { code, state } = await provider.visit(address, person);
        const page = await fetch(`${returnAddress}?${new URLSearchParams({ code, state })}`);
        pages.push(`${page.status} ${page.headers.get('content-type')}`);
        const again = await fetch(`${returnAddress}?${new URLSearchParams({ code: 'other', state })}`);
        pages.push(String(again.status));
      },
    });
    assert.deepEqual([record.email, record.name, record.verified], ['grace@example.com', 'Grace', true]);
    assert.equal(meta?.id, 'grace');
    assert.equal(token, client.authStore.token);
    assert.ok(client.authStore.isValid);
    // The client takes one code, and its stream is over when it has it.
    assert.equal(pages[0], '200 text/html; charset=utf-8');
    assert.ok(pages[1] === undefined || pages[1] === '400');
  });

  await t.test('with a code that the app has itself', async () => {
    const client = connect(url);
    const { oauth2 } = await client.collection('users').listAuthMethods();
    const [method] = oauth2.providers;
    assert.ok(method);
    assert.ok(method.authURL.endsWith('&redirect_uri='));
    const { code, state } = await provider.visit(method.authURL + encodeURIComponent(returnAddress), person);
    assert.equal(state, method.state);
    const { record } = await client
      .collection('users')
      .authWithOAuth2Code(method.name, code, method.codeVerifier, returnAddress);
    assert.equal(record.email, 'grace@example.com');
    await assert.rejects(
      client.collection('users').authWithOAuth2Code(method.name, code, method.codeVerifier, returnAddress),
      { status: 400 },
    );
  });

  await t.test('the links of an account are listed, and one of several ways in goes', async () => {
    const client = connect(url);
    const { oauth2 } = await client.collection('users').listAuthMethods();
    const [method] = oauth2.providers;
    assert.ok(method);
    const { code } = await provider.visit(method.authURL + encodeURIComponent(returnAddress), person);
    const { record } = await client
      .collection('users')
      .authWithOAuth2Code(method.name, code, method.codeVerifier, returnAddress);
    const users = client.collection('users');
    const [link, ...others] = await users.listExternalAuths(record.id);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [link?.provider, link?.providerId, link?.recordRef, link?.collectionRef],
      [method.name, 'grace', record.id, record.collectionId],
    );
    const links = client.collection('_externalAuths');
    assert.deepEqual((await links.getOne(link?.id ?? '')).provider, method.name);
    assert.deepEqual(await connect(url).collection('_externalAuths').getFullList(), [], 'a guest has none');
    await assert.rejects(
      connect(url)
        .collection('_externalAuths')
        .getOne(link?.id ?? ''),
      { status: 404 },
    );
    await assert.rejects(links.create({ provider: 'oidc' }), { status: 403 });
    await assert.rejects(links.getList(1, 1, { filter: 'provider ~ "o"' }), { status: 400 });
    await assert.rejects(users.unlinkExternalAuth(record.id, method.name), { status: 400 }, 'it is the only way in');
    const reset = await target.admin();
    await reset.patch(`/api/v1/users/${record.id}`, { password: 'correct horse 2' });
    const again = connect(url);
    await again.collection('users').authWithPassword('grace@example.com', 'correct horse 2');
    await again.collection('users').unlinkExternalAuth(record.id, method.name);
    assert.deepEqual(await again.collection('users').listExternalAuths(record.id), []);
    await assert.rejects(again.collection('users').unlinkExternalAuth(record.id, method.name), { status: 404 });
  });

  await t.test("an address that is another account's opens no session", async () => {
    const client = connect(url);
    const { oauth2 } = await client.collection('users').listAuthMethods();
    const [method] = oauth2.providers;
    assert.ok(method);
    const mallory = { id: 'mallory', email: 'alice@example.com', email_verified: true };
    const { code } = await provider.visit(method.authURL + encodeURIComponent(returnAddress), mallory);
    await assert.rejects(
      client.collection('users').authWithOAuth2Code(method.name, code, method.codeVerifier, returnAddress),
      { status: 400 },
    );
    assert.equal(client.authStore.isValid, false);
  });

  await t.test('a guessed state gets the code to nobody', async () => {
    const answer = await fetch(`${returnAddress}?code=stolen&state=guessed`);
    assert.equal(answer.status, 400);
    const text = await answer.text();
    assert.ok(!text.includes('stolen') && !text.includes('guessed'));
  });
});
