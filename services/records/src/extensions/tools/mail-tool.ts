import { AppError, validationFailed } from '@recordbus/errors';
import { issueSentence } from '@recordbus/errors/issue-sentence';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Settings } from '@recordbus/settings';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import type { RunWrite } from '../../write/write-unit.ts';
import { writeIn } from '../call-scope.ts';
import { type Tool, tool } from './tool.ts';

interface MailDeps {
  readonly write: RunWrite;
  readonly settings: Pick<Settings, 'get'>;
}

const maxTextLength = 1024 * 1024;
const daySec = 24 * 3600;

const mail = z.strictObject({
  to: boundedText(320).regex(/^[^\s@]+@[^\s@]+$/, 'must be an address'),
  subject: z.string().min(1, 'is required').max(998, 'is too long'),
  text: z.string().max(maxTextLength, 'is too long'),
  html: z.string().max(maxTextLength, 'is too long').optional(),
});

/** `mail.send`: adds a mail to the product's own mail queue. */
export const mailTools = ({ write, settings }: MailDeps): Readonly<Record<string, Tool>> => ({
  'mail.send': tool(z.tuple([z.string()]), async ({ scope }, [text]) => {
    if (!isMailConfigured(settings)) throw new AppError(422, 'mail_not_configured', 'mail is not configured');
    const read = mail.safeParse(JSON.parse(text));
    if (!read.success)
      throw validationFailed(
        Object.fromEntries(read.error.issues.map((issue) => [issue.path.join('.') || 'mail', issueSentence(issue)])),
      );
    const queued = { template: 'own', usefulForSec: daySec, ...read.data } as const;
    await writeIn(scope, write)({ mode: 'statement' }, async (unit) => {
      await enqueueMail(unit.query, queued);
      unit.due.add('sendMails');
    });
  }),
});
