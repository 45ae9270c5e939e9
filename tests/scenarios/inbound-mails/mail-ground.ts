import type { Answer, Client, Sending } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { secrets } from './requests.ts';

const pathOf = (provider: string) => `/api/v1/mail/inbound/${provider}`;

/** Posts what a provider sends. */
export const deliver = (client: Client, provider: string, sending: Sending): Promise<Answer> =>
  client.send('POST', pathOf(provider), sending);

/** Waits until the hook has taken a mail, and returns it as the hook saw it. */
export const takenMail = (client: Client, subject: string): Promise<unknown> =>
  eventually(`the hook has the mail ${subject}`, async () => {
    const { json } = await client.get(`/api/x/desk/${encodeURIComponent(subject)}`);
    return at(json, 'data.mail') ?? false;
  });

/** How often the hook took mails with a subject. */
export const countTaken = async (client: Client, subject: string): Promise<unknown> =>
  at((await client.get(`/api/x/desk/${encodeURIComponent(subject)}`)).json, 'data.count');

/** Stores the secrets, and waits until every replica has them. */
export async function configure(admin: Client, guest: Client): Promise<void> {
  await admin.patch('/api/v1/admin/settings', secrets);
  await eventually('the secrets are known', async () =>
    (await Promise.all(['postmark', 'mailgun', 'ses'].map((name) => guest.send('POST', pathOf(name))))).every(
      ({ status }) => status !== 404,
    ),
  );
}
