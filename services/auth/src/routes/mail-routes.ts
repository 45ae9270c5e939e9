import { exactText, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import { listMails, mailStates, sendTestMail } from '@recordbus/mail';
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

/** Tests the mail settings (mail §1.4), and lists what was mailed (mail §4.1). */
export const mailRoutes = ({ settings, database }: Pick<AuthParts, 'settings' | 'database'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/mails',
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
