import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { testCollection } from '@recordbus/schema/testing';
import { insertLink } from './links.ts';

const members = testCollection('members', [], { id: 'c1', type: 'auth' });

suite('a link', { skip: skipWithoutDatabase }, () => {
  let own: OpenTemporaryDatabase;
  before(async () => {
    own = await openTemporaryDatabase();
  });
  after(() => own.remove());

  const run = (text: string, values: readonly unknown[] = []) => own.database.query({ text, values });
  const link = (accountId: string, issuer: string | undefined) =>
    insertLink(own.database.query, members, accountId, { provider: 'oidc', issuer, providerUserId: '7', nowSec: 1 });
  /** Writes a link as the previous release does. */
  const linkByOldVersion = (provider: string, subject: string, accountId: string) =>
    run(
      `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
        values ($1, $2, $3, $4, 1) on conflict (collection_id, provider, provider_user_id) do nothing returning 1`,
      [members.id, provider, subject, accountId],
    );
  const issuersOf = async (accountId: string) =>
    own.database.query<{ issuer: string; subject: string }>({
      text: 'select issuer, subject from system.oauth_links where account_id = $1',
      values: [accountId],
    });

  test('belongs to one issuer: the same id at another issuer is another identity', async () => {
    assert.equal(await link('u1', 'https://one.example.com'), true);
    assert.equal(await link('u2', 'https://one.example.com'), false);
    assert.equal(await link('u2', 'https://two.example.com'), true);
    assert.equal(await link('u3', 'https://two.example.com'), false);
    assert.deepEqual(await issuersOf('u2'), [{ issuer: 'https://two.example.com', subject: '7' }]);
  });

  test("from the previous release gets the settings' issuer", async () => {
    const set = (key: string, value: string) =>
      run(
        `insert into system.settings (key, value, updated_at) values ($1, $2, 1)
          on conflict (key) do update set value = excluded.value`,
        [key, value],
      );
    await linkByOldVersion('oidc', 'a', 'old1');
    assert.deepEqual(await issuersOf('old1'), [{ issuer: '', subject: 'a' }], 'the issuer is unknown');
    await set('oauth2.oidc.token_url', 'https://id.example.com/realms/one/token');
    await set('oauth2.gitlab.endpoint', 'https://git.example.com/');
    for (const provider of ['oidc', 'gitlab', 'google', 'microsoft']) await linkByOldVersion(provider, 'b', 'old2');
    assert.deepEqual(
      (await issuersOf('old2')).map(({ issuer }) => issuer),
      [
        'https://id.example.com/realms/one/token',
        'https://git.example.com/oauth/token',
        'https://oauth2.googleapis.com/token',
        'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      ],
    );
    assert.equal(await link('u4', undefined), true, 'a service of the previous release names no issuer');
    assert.deepEqual(await issuersOf('u4'), [{ issuer: 'https://id.example.com/realms/one/token', subject: '7' }]);
  });
});
