import { type Answer, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { type MailServer, startMailServer } from '../harness/servers/mail-server.ts';
import type { Target } from '../harness/stacks/target.ts';

export const password = 'a long and winding password';
export const users = '/api/v1/auth/targets';

export const statusOf = ({ status }: Answer): number => status;
export const statuses = (answers: readonly Answer[]): number[] => answers.map(statusOf).sort();

/** Creates a collection with a protected file, mail, codes and anonymous users: everything that makes tokens. */
export async function prepareTargets(target: Target) {
  const admin = await target.admin();
  const mail = await startMailServer();
  const fields = [
    { name: 'paper', type: 'file', options: { protected: true } },
    { name: 'note', type: 'text' },
  ];
  await admin.send('POST', '/api/v1/collections', {
    body: { name: 'targets', type: 'auth', fields, view_rule: null },
  });
  const switches = { ...mail.settings, 'auth.otp.enabled': '1', 'auth.anonymous.enabled': '1' };
  await admin.patch('/api/v1/admin/settings', switches);
  await eventually('the settings apply', async () => {
    const answers = await Promise.all([
      target.guest.send('POST', `${users}/anonymous`),
      target.guest.send('POST', `${users}/otp/request`, { body: { email: 'nobody@example.com' } }),
    ]);
    return statuses(answers).join() === '200,201';
  });
  const register = async (email: string) => {
    const session = await target.guest.post(`${users}/register`, { email, password });
    const token = textAt(session, 'token');
    return { email, token, id: textAt(session, 'record.id'), client: createClient(target.url, token) };
  };
  return { admin, mail, register, post: (path: string, body?: unknown) => target.guest.send('POST', path, { body }) };
}

export type Targets = Awaited<ReturnType<typeof prepareTargets>>;

/** Returns the mail with the password reset link. */
export const resetMailTo = (mail: MailServer, address: string) =>
  mail.mailTo(address, { subject: 'Reset your password' });
