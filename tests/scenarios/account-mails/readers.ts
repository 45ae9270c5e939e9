import assert from 'node:assert/strict';
import { type Answer, createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { objectAt, textAt } from '../../harness/json.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import type { Target } from '../../harness/stacks/target.ts';

export const password = 'a long and winding password';
export const changed = 'another long password';
export const path = '/api/v1/auth/readers';

export const statusOf = ({ status }: Answer): number => status;

/** Creates the auth collection `readers` and a mail server, and returns what the scenarios do with its users. */
export async function prepareReaders(target: Target) {
  const admin = await target.admin();
  const mail = await startMailServer();
  await admin.send('POST', '/api/v1/collections', { body: { name: 'readers', type: 'auth' } });
  await admin.patch('/api/v1/admin/settings', mail.settings);
  const post = (suffix: string, body: unknown, token?: string) =>
    createClient(target.url, token).send('POST', `${path}${suffix}`, { body });
  const register = async (email: string) => {
    const { json, status } = await post('/register', { email, password });
    assert.equal(status, 201);
    return {
      token: textAt(json, 'data.token'),
      client: createClient(target.url, textAt(json, 'data.token')),
      id: textAt(json, 'data.record.id'),
    };
  };
  const isVerified = async (id: string) => objectAt((await admin.get(`/api/v1/readers/${id}`)).json, 'data').verified;
  const login = async (email: string, given: string) => statusOf(await post('/login', { email, password: given }));
  // Every service follows the settings within a second: the first mail shows that this one does.
  await eventually('mail is enabled', async () => {
    const probe = await post('/register', { email: `probe.${Math.random()}@example.com`, password });
    const token = textAt(probe.json, 'data.token');
    return statusOf(await post('/request-verify', {}, token)) === 200;
  });
  return { admin, mail, post, register, isVerified, login };
}
