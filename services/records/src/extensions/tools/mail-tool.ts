import type { Bus } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Settings } from '@recordbus/settings';
import { AppError, validationFailed } from '@recordbus/shared/errors';
import { z } from 'zod';
import { type Tool, tool } from './tool.ts';

interface MailDeps {
  readonly query: Query;
  readonly settings: Pick<Settings, 'get'>;
  readonly bus: Pick<Bus, 'notify'>;
}

const maxTextLength = 1024 * 1024;
const daySec = 24 * 3600;

const mail = z.strictObject({
  to: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'must be an address'),
  subject: z.string().min(1, 'is required').max(998, 'is too long'),
  text: z.string().max(maxTextLength, 'is too long'),
  html: z.string().max(maxTextLength, 'is too long').optional(),
});

/** `mail.send`: into the queue that the product's own mails go out from. */
export const mailTools = ({ query, settings, bus }: MailDeps): Readonly<Record<string, Tool>> => ({
  'mail.send': tool(z.tuple([z.string()]), async ({ scope }, [text]) => {
    if (!isMailConfigured(settings)) throw new AppError(422, 'mail_not_configured', 'mail is not configured');
    const read = mail.safeParse(JSON.parse(text));
    if (!read.success)
      throw validationFailed(
        Object.fromEntries(read.error.issues.map(({ path, message }) => [path.join('.') || 'mail', message])),
      );
    const queued = { template: 'own', usefulForSec: daySec, ...read.data } as const;
    if (scope.transaction) await scope.transaction.part((part) => enqueueMail(part.query, queued));
    else await enqueueMail(query, queued);
    bus.notify('mail');
  }),
});
