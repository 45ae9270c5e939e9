import assert from 'node:assert/strict';
import { multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { loggedErrors } from '../harness/processes/logs.ts';
import { type CannedAnswer, startCannedServer } from '../harness/servers/canned-server.ts';
import { redirectUri } from '../harness/servers/oidc-server.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

/** One white pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const maxPictureBytes = 5 * 1024 * 1024;
/** Returns content with this size that begins as a picture. */
const pictureOf = (sizeBytes: number) => Buffer.concat([pixel, Buffer.alloc(sizeBytes - pixel.length)]);

onEachTopology("a file field takes the provider's picture [oauth §4.4]", async (t, target) => {
  const admin = followedEverywhere(await target.admin());
  const { guest } = target;
  const file = (name: string, options: object = {}) => ({ name, type: 'file', options });
  const fields = [
    file('photo'),
    file('album', { multiple: true }),
    file('small', { maxSize: 1000 }),
    file('drawing', { mimeTypes: ['image/gif'] }),
    { name: 'nick', type: 'text' },
  ];
  await admin.post('/api/v1/collections', { name: 'faces', type: 'auth', fields, history_enabled: true });
  await using server = await startCannedServer();
  await admin.patch('/api/v1/admin/settings', {
    'hooks.http.allow': '127.0.0.1',
    'oauth2.gitlab.enabled': '1',
    'oauth2.gitlab.client_id': 'an-id',
    'oauth2.gitlab.client_secret': 'a-secret',
    'oauth2.gitlab.endpoint': `${server.url}/git`,
  });
  const map = (members: Readonly<Record<string, string>>) =>
    admin.send('PATCH', '/api/v1/admin/settings', { body: { 'oauth2.profile.faces': JSON.stringify(members) } });
  let lastId = 0;
  /** Signs in a new person, for whose picture the provider gives this answer. */
  const enter = async (
    picture: CannedAnswer | Promise<CannedAnswer>,
    url = `${server.url}/me.png`,
    record: object = {},
  ) => {
    lastId += 1;
    const user = { id: lastId, username: `face${lastId}`, avatar_url: url };
    server.answer({
      '/git/oauth/token': { body: JSON.stringify({ access_token: 'a-token', token_type: 'Bearer' }) },
      '/git/api/v4/user': { body: JSON.stringify(user) },
      '/me.png': picture,
      '/there.png': { body: pixel },
      '/round': { status: 302, headers: { Location: '/round' }, body: '' },
    });
    const body = { provider: 'gitlab', redirectUri, code: 'a-code', record };
    const answer = await guest.send('POST', '/api/v1/auth/faces/oauth2/exchange', { body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  /** The new account's picture. The answer has it unless it took longer than three seconds. */
  const photoOf = (json: unknown): Promise<string> =>
    eventually('the account has its picture', async () => {
      const answered = at(json, 'data.record.photo');
      const record = await admin.get(`/api/v1/faces/${textAt(json, 'data.record.id')}`);
      const stored = textAt(record.json, 'data.photo');
      assert.ok(answered === null || answered === stored);
      return stored;
    });

  await t.test('only the picture can be mapped to a file field', async () => {
    assert.equal((await map({ photo: 'name' })).status, 422);
    assert.equal((await map({ photo: 'avatar_url', album: 'avatar_url', nick: 'username' })).status, 200);
  });

  await t.test('a new account gets the picture as an update to the record', async () => {
    const json = await enter({ body: pixel });
    const id = textAt(json, 'data.record.id');
    const photo = await photoOf(json);
    assert.match(photo, /^picture_[0-9a-z]{10}\.png$/);
    assert.equal(at(json, 'data.record.nick'), 'face1');
    await eventually('the album has it too', async () => {
      const { json: shown } = await admin.get(`/api/v1/faces/${id}`);
      return listAt(shown, 'data.album').length === 1;
    });
    const headers = { Authorization: `Bearer ${textAt(json, 'data.token')}` };
    const download = await fetch(`${target.url}/api/v1/files/faces/${id}/${photo}`, { headers });
    assert.equal(download.status, 200);
    assert.equal(download.headers.get('content-type'), 'image/png');
    assert.deepEqual(Buffer.from(await download.arrayBuffer()), pixel);
    const { json: history } = await admin.get(`/api/v1/faces/${id}/history`);
    const verbs = listAt(history, 'data.data').map((row) => at(row, 'op'));
    assert.deepEqual(verbs, ['update', 'update', 'create']);
  });

  await t.test('an existing account keeps its file', async () => {
    const first = await photoOf(await enter({ body: pixel }));
    lastId -= 1;
    const again = await enter({ body: pictureOf(2000) });
    assert.equal(textAt(again, 'data.record.photo'), first);
    assert.ok(!server.received.includes('GET /me.png'));
  });

  await t.test('a redirect to an allowed address is followed', async () => {
    const elsewhere = (url: string) => ({ status: 302, headers: { Location: url }, body: '' });
    assert.match(await photoOf(await enter(elsewhere('/there.png'))), /^picture_/);
    const inside = server.url.replace('127.0.0.1', '127.0.0.2');
    assert.equal(at(await enter(elsewhere(`${inside}/there.png`)), 'data.record.photo'), null);
    assert.ok(!server.received.includes('GET /there.png'));
  });

  const failures: readonly (readonly [name: string, picture: CannedAnswer, url?: string])[] = [
    ['is missing', { status: 404, body: pixel }],
    ['is a page', { body: '<!doctype html><title>me</title>' }],
    ['is an SVG', { body: '<svg xmlns="http://www.w3.org/2000/svg"></svg>' }],
    ['is empty', { body: '' }],
    ['is a byte too large', { body: pictureOf(maxPictureBytes + 1) }],
    ['cuts the connection', 'cut'],
    ['redirects endlessly', { status: 302, headers: { Location: '/round' }, body: '' }],
    ['redirects to another scheme', { status: 302, headers: { Location: 'file:///etc/passwd' }, body: '' }],
    ['is at a denied address', { body: pixel }, 'http://127.0.0.2:1/me.png'],
    ['is on an unknown host', { body: pixel }, 'http://nobody.invalid/me.png'],
  ];
  for (const [name, picture, url] of failures)
    await t.test(`a sign-in succeeds without a picture that ${name}`, async () => {
      const json = await enter(picture, url);
      assert.equal(at(json, 'data.record.photo'), null);
      assert.deepEqual(at(json, 'data.record.album'), []);
      assert.ok(textAt(json, 'data.token'));
    });

  await t.test('sign-in does not wait for the picture, and a late one replaces no file', async () => {
    const late = Promise.withResolvers<CannedAnswer>();
    const json = await enter(late.promise);
    assert.equal(at(json, 'data.record.photo'), null);
    const path = `/api/v1/faces/${textAt(json, 'data.record.id')}`;
    const own = multipart({ name: 'photo', filename: 'own.png', content: pixel });
    const { status, text } = await admin.send('PATCH', path, own);
    assert.equal(status, 200, text);
    late.resolve({ body: pixel });
    const record = await eventually('the album has the picture', async () => {
      const { json: shown } = await admin.get(path);
      return listAt(shown, 'data.album').length === 1 && shown;
    });
    assert.match(textAt(record, 'data.photo'), /^own_/);
  });

  await t.test('a picture with exactly 5 MiB is stored', async () => {
    const json = await enter({ body: pictureOf(maxPictureBytes) });
    assert.match(await photoOf(json), /^picture_/);
  });

  await t.test('each field checks the picture as it checks uploads', async () => {
    const members = { small: 'avatar_url', drawing: 'avatar_url', photo: 'avatar_url' };
    assert.equal((await map(members)).status, 200);
    const json = await enter({ body: pictureOf(2000) });
    assert.deepEqual([at(json, 'data.record.small'), at(json, 'data.record.drawing')], [null, null]);
    assert.match(await photoOf(json), /^picture_/);
  });

  await t.test('a field that the app sends takes no picture', async () => {
    const json = await enter({ body: pixel }, undefined, { photo: null });
    assert.equal(at(json, 'data.record.photo'), null);
  });

  await t.test('failures are logged as warnings, not as errors', async () => {
    await eventually('each failure is logged', () => {
      const warnings = target.logLines.filter((line) => line.includes("cannot store a new user's picture"));
      if (target.logLines.length > 0) assert.ok(warnings.length >= failures.length, warnings.join('\n'));
      return true;
    });
    assert.deepEqual(loggedErrors(target.logLines), []);
  });
});
