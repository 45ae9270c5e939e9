import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import { conflict, notFound } from '@recordbus/errors';
import { exactText, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import { findMail, hurryMail, listMails, mailStates, sendTestMail } from '@recordbus/mail';
import { accountAddress } from '@recordbus/schema';
import { z } from 'zod';
import type { AuthParts } from '../auth-parts.ts';

const seconds = z.number().describe('unix seconds');

/** A mail in the log, as admins get it (mail §4.1). */
const loggedMail = z
  .object({
    id: z.uuid(),
    to: z.string(),
    template: z.string(),
    state: z.enum(mailStates),
    attempts: z.int(),
    last_error: z.string().nullable().describe("the mail server's words, or why the mail was given up"),
    collection_id: z.string().nullable(),
    record_id: z.string().nullable().describe('the record that the mail is about, such as the account'),
    created: seconds,
    finished: seconds.nullable(),
  })
  .meta({ id: 'LoggedMail' });

const mailDetails = loggedMail
  .extend({
    next_attempt: seconds.nullable().describe('when it is tried next, in unix seconds; null if it has ended'),
    attempt_log: z
      .array(
        z.object({
          at: seconds,
          error: z.string().nullable().describe("the mail server's words; null if it took the mail"),
        }),
      )
      .describe('the last 100 attempts, oldest first'),
  })
  .meta({ id: 'MailDetails' });

const path = '/api/v1/admin/mails';
const params = z.object({ id: z.string() });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function getMail(query: Query, id: string): Promise<z.output<typeof mailDetails>> {
  const mail = uuid.test(id) ? await findMail(query, id) : undefined;
  if (!mail) throw notFound('mail');
  return { ...mail, attempt_log: [...mail.attempt_log] };
}

/** Tests the mail settings (mail §1.4), and lists what was mailed (mail §4.1). */
export const mailRoutes = ({ settings, database, bus }: Pick<AuthParts, 'settings' | 'database' | 'bus'>): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'admin',
    summary: 'List mails, newest first',
    query: pageQuery.extend({
      state: z.enum(mailStates).optional(),
      template: exactText,
      to: exactText.describe("the recipient's address"),
      record_id: exactText.describe('the record that the mail is about'),
    }),
    answers: { 200: pageOf(loggedMail), 400: 'a parameter is invalid' },
    async handler({ query: { record_id: recordId, ...query } }) {
      const { rows, totalItems } = await listMails(database.query, { ...query, recordId });
      return page(rows, { page: query.page, perPage: query.perPage, totalItems });
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id`,
    access: 'admin',
    scope: 'admin',
    summary: 'Read a mail in the log, with its attempts',
    params,
    answers: { 200: mailDetails, 404: 'no such mail' },
    handler: async ({ params: { id } }) => ok(await getMail(database.query, id)),
  }),
  route({
    method: 'POST',
    path: `${path}/:id/send`,
    access: 'admin',
    scope: 'admin',
    summary: 'Send a waiting mail now',
    params,
    answers: { 200: mailDetails, 404: 'no such mail', 409: 'the mail has ended' },
    async handler({ params: { id }, context, header }) {
      const mail = await getMail(database.query, id);
      const isWaiting = await database.transaction(async (query) => {
        if (!(await hurryMail(query, mail.id))) return false;
        const target = { type: 'mail', id: mail.id };
        await recordAudit(query, { action: 'mails.send', context, userAgent: header('user-agent'), target });
        return true;
      });
      if (!isWaiting) throw conflict('mail_state', 'the mail was sent or given up');
      bus.notify('mail');
      return ok(await getMail(database.query, id));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/admin/settings/test-email',
    access: 'admin',
    scope: 'settings:write',
    summary: 'Send a test mail at once',
    body: z.object({ to: accountAddress }),
    answers: {
      200: z.object({ sent: z.literal(true) }),
      422: 'not an address, or mail is not configured',
      502: 'the mail server refused the mail; details.server has its reply',
    },
    async handler({ body }) {
      // The caller has probably just changed the settings.
      await settings.refresh();
      await sendTestMail(settings, body.to);
      return ok({ sent: true });
    },
  }),
];
