import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../../harness/json.ts';
import { type MailServer, startMailServer } from '../../harness/servers/mail-server.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';

export const password = 'a long and winding password';
export const auth = '/api/v1/auth/holders';

/** The subjects that the product's mails have. */
export const subjects = {
  verify: 'Verify your email',
  reset: 'Reset your password',
  moved: 'Your address was changed',
  password: 'Your password was changed',
  removed: 'A way to sign in was removed',
};

export const statusOf = ({ status }: Answer): number => status;
export const codeOf = ({ json }: Answer): unknown => at(json, 'code');

/** An account, and one of its sessions. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly client: Client;
}

/** Creates a collection whose users may change themselves, with mail. Returns what the scenarios do with it. */
export async function preparePeople(target: Target) {
  const admin = await target.admin();
  const mail = await startMailServer();
  const own = 'id = @request.auth.id';
  await admin.post('/api/v1/collections', { name: 'holders', type: 'auth', update_rule: own, delete_rule: own });
  await admin.patch('/api/v1/admin/settings', { ...mail.settings, 'auth.otp.enabled': '1' });
  const post = (suffix: string, body: unknown, client: Client = target.guest): Promise<Answer> =>
    client.send('POST', `${auth}${suffix}`, { body });
  await eventually(
    'mail is enabled',
    async () => (await post('/otp/request', { email: 'x@example.com' })).status === 200,
  );

  const recordPath = ({ id }: Person) => `/api/v1/holders/${id}`;
  const logIn = (email: string, given = password) => post('/login', { email, password: given });
  const people = {
    admin,
    mail,
    post,
    recordPath,
    logIn,
    /** Registers a person whose address is not verified yet. */
    async register(name: string): Promise<Person> {
      const email = newAddress(name);
      const data = await target.guest.post(`${auth}/register`, { email, password });
      return { id: textAt(data, 'record.id'), email, client: createClient(target.url, textAt(data, 'token')) };
    },
    /** Registers a person and verifies their address by the link. */
    async registerProved(name: string): Promise<Person> {
      const person = await people.register(name);
      const { token } = await mail.mailTo(person.email, { subject: subjects.verify });
      assert.equal(statusOf(await post('/verify-email', { token }, person.client)), 200);
      return person;
    },
    recordOf: async (person: Person) => objectAt((await admin.get(recordPath(person))).json, 'data'),
    patch: (person: Person, body: object, client = person.client) => client.send('PATCH', recordPath(person), { body }),
    /** Enrols an authenticator app for a person and returns its secret. */
    async enrol({ client }: Person): Promise<string> {
      const secret = textAt((await client.send('POST', `${auth}/totp/setup`)).json, 'secret');
      await client.post(`${auth}/totp/confirm`, { code: totpCode(secret) }, 200);
      return secret;
    },
    /** Requests a reset and follows its link. */
    async reset(email: string, next: string): Promise<void> {
      const before = mail.received.filter(({ recipients }) => recipients.includes(email)).length;
      await post('/request-password-reset', { email });
      const { token } = await mail.mailTo(email, { subject: subjects.reset });
      assert.ok(before >= 0 && token);
      assert.equal(statusOf(await post('/confirm-password-reset', { token, password: next })), 200);
    },
    undoLink: async (address: string, count = 1) =>
      (await mail.mailTo(address, { subject: subjects.moved, count })).token ?? assert.fail('no link'),
    undo: (token: string) => post('/undo-email-change', { token }),
    hasEnded: ({ client }: Person) =>
      eventually('the session has ended', async () => (await client.get(`${auth}/sessions`)).status === 401),
    async auditOf({ id }: Person): Promise<unknown[]> {
      const { json } = await admin.get(`/api/v1/admin/audit?perPage=1000`);
      return listAt(json, 'data')
        .filter(({ target_id }) => target_id === id)
        .map(({ action }) => action);
    },
  };
  return people;
}

export type People = Awaited<ReturnType<typeof preparePeople>>;

export const newAddress = (name: string): string => `${name}.${randomUUID().slice(0, 8)}@example.com`;

/** Waits until all mail has arrived: the mail to this address is requested last. */
export async function settled({ post, mail, register }: People): Promise<void> {
  const last = await register('last');
  await mail.mailTo(last.email, { subject: subjects.verify });
  assert.equal(statusOf(await post('/request-password-reset', { email: last.email })), 200);
  await mail.mailTo(last.email, { subject: subjects.reset });
}

/** Waits until account holders are notified of every change, and all mail has arrived. */
export async function allNoticed(target: Target, people: People): Promise<void> {
  const rest = () => inDatabase(target, 'select from system.account_changes', []);
  await eventually('no change without a notice', async () => (await rest()).length === 0);
  await settled(people);
}

export const mailsTo = (mail: MailServer, address: string, subject?: string): number =>
  mail.received.filter(
    ({ recipients, email }) => recipients.includes(address) && (subject === undefined || email.subject === subject),
  ).length;

/** Moves a person's sign-ins back by more than ten minutes. */
export const ageSignIns = (target: Target, { id }: Person): Promise<unknown> =>
  inDatabase(target, 'update system.sessions set signed_in_at = signed_in_at - 601 where account_id = $1', [id]);
