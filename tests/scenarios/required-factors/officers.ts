import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { objectAt, textAt } from '../../harness/json.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { followedEverywhere } from '../../harness/stacks/followed-settings.ts';
import type { Target } from '../../harness/stacks/target.ts';

export const password = 'a long and winding password';
export const auth = '/api/v1/auth/officers';
export const required = 'auth.mfa.required.officers';
export const settingsPath = '/api/v1/admin/settings';

let people = 0;
export const newEmail = (): string => {
  people += 1;
  return `officer${people}@example.com`;
};

/** The token in an answer that has nothing else. */
export const tokenIn = ({ status, json, text }: Answer): string => {
  assert.equal(status, 200, text);
  const data = objectAt(json, 'data');
  assert.deepEqual(Object.keys(data).sort(), ['enrollment_token', 'mfa_enrollment_required'], text);
  assert.equal(data.mfa_enrollment_required, true);
  return textAt(data, 'enrollment_token');
};

/**
 * Creates the auth collection `officers`, whose chiefs need a second factor, and returns what the scenarios do with its
 * users.
 */
export async function prepareOfficers(target: Target) {
  const admin = followedEverywhere(await target.admin());
  const { guest } = target;
  await admin.post('/api/v1/collections', {
    name: 'officers',
    type: 'auth',
    create_rule: null,
    update_rule: null,
    fields: [
      { name: 'rank', type: 'text' },
      { name: 'badge', type: 'text', view_rule: '@request.auth.factors = "mfa"' },
    ],
  });
  const as = (token: string): Client => createClient(target.url, token);
  const set = (rule: string) => admin.patch(settingsPath, { [required]: rule });
  const login = (email: string) => guest.send('POST', `${auth}/login`, { body: { email, password } });
  await set('rank = "chief"');
  return {
    admin,
    guest,
    as,
    set,
    login,
    /** Makes an account for which the rule holds, before it is asked for a second factor. */
    async commission(): Promise<{ email: string; id: string; session: string }> {
      const email = newEmail();
      const answer = await guest.post(`${auth}/register`, { email, password, badge: 'b' });
      await admin.patch(`/api/v1/officers/${textAt(answer, 'record.id')}`, { rank: 'chief' });
      return { email, id: textAt(answer, 'record.id'), session: textAt(answer, 'token') };
    },
    begin: async (email: string): Promise<string> => tokenIn(await login(email)),
    /** Sets an authenticator app up. Returns the code that this used. */
    async enrollApp(token: string): Promise<{ answer: Answer; code: string }> {
      const { secret } = (await as(token).post(`${auth}/totp/setup`, {}, 200)) as { secret: string };
      const code = totpCode(secret);
      return { code, answer: await as(token).send('POST', `${auth}/totp/confirm`, { body: { code } }) };
    },
  };
}

export type Officers = Awaited<ReturnType<typeof prepareOfficers>>;
