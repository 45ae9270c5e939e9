import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { objectAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { newAccounts, solveCaptcha } from './solve-captcha.ts';

const collection = 'pocketbase_guarded';
const settingsPath = '/api/v1/admin/settings';

onEachTopology("PocketBase's clients are asked for captchas, and told so", async (t, target) => {
  const { guest } = target;
  await using mail = await startMailServer();
  const admin = followedEverywhere(await target.admin());
  await admin.post('/api/v1/collections', { name: collection, type: 'auth', create_rule: null, fields: [] });
  const account = newAccounts('guarded-client');
  const known = account();
  await admin.post(`/api/v1/${collection}`, known);
  await admin.patch(settingsPath, {
    'pocketbase.enabled': '1',
    'auth.otp.enabled': '1',
    'smtp.enabled': '1',
    'smtp.host': '127.0.0.1',
    'smtp.port': String(mail.port),
    'smtp.from': 'office@example.com',
    [`auth.captcha.${collection}`]: '{"provider":"altcha","on":["register","otp","reset","login"]}',
  });
  const send = (route: string, body: object, headers: Record<string, string> = {}) =>
    guest.send('POST', `/pb/api/collections/${collection}/${route}`, { body, headers });
  const { email, password } = known;
  const fresh = () => {
    const next = account();
    return { ...next, passwordConfirm: next.password };
  };
  const doors: readonly (readonly [route: string, body: () => object, success: number])[] = [
    ['records', fresh, 200],
    ['auth-with-password', () => ({ identity: email, password }), 200],
    ['request-otp', () => ({ email }), 200],
    ['request-password-reset', () => ({ email }), 204],
    ['request-verification', () => ({ email }), 204],
  ];
  await eventually('the setting applies', async () => (await send('request-otp', { email })).status === 400);

  for (const [route, body, success] of doors)
    await t.test(`${route} names the missing or wrong captcha, and takes a right one`, async () => {
      for (const given of [undefined, 'wrong']) {
        const { status, json, text } = await send(route, body(), given === undefined ? {} : { 'X-Captcha': given });
        assert.equal(status, 400, text);
        assert.deepEqual(Object.keys(objectAt(json, 'data')), ['captcha'], text);
      }
      const { status, text } = await send(route, body(), { 'X-Captcha': await solveCaptcha(guest, collection) });
      assert.equal(status, success, text);
    });
});
