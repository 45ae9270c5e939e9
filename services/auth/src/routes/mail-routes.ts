import { ok, type Route, route } from '@recordbus/http';
import { sendTestMail } from '@recordbus/mail';
import { accountAddress } from '@recordbus/schema';
import { z } from 'zod';
import type { AuthParts } from '../auth-parts.ts';

/** Tests the mail settings (mail §1.4). */
export const mailRoutes = ({ settings }: Pick<AuthParts, 'settings'>): Route[] => [
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
