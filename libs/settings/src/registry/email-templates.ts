import { setting, settingGroup, unsetSetting } from './setting.ts';
import { block, httpUrl, line } from './text-schemas.ts';

const commonVariables = ['email', 'token', 'link', 'appUrl', 'collection'] as const;

/**
 * The variables of each template (interface §2.7, Email templates); `code` is there for one-time codes only, and the
 * notice to an account's old address holds nothing that could be used.
 */
const templateVariables = {
  verify: commonVariables,
  reset: commonVariables,
  otp: [...commonVariables, 'code'],
  change: commonVariables,
  change_notice: ['email', 'newEmail', 'appUrl', 'collection'],
} as const;

/** A misspelt variable would be found out by the first person who gets the mail. */
function unknownVariable(text: string, known: readonly string[]): string | undefined {
  return [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name).find((name) => !known.includes(name));
}

const knowing = <S extends ReturnType<typeof line>>(schema: S, known: readonly string[]) =>
  schema.refine((text) => unknownVariable(text, known) === undefined, {
    error: ({ input }) =>
      `{{${unknownVariable(String(input), known)}}} is not a variable of this template: ${known.map((name) => `{{${name}}}`).join(', ')} are`,
  });

const subject = (known: readonly string[]) => knowing(line(400), known);
const body = (known: readonly string[]) => knowing(block(100_000), known);

const paragraphs = (...parts: string[]) => `${parts.join('\n\n')}\n`;

const bodies = {
  verify: paragraphs(
    'Hello,',
    'please confirm that {{email}} is your address:',
    '{{link}}',
    'If you did not create an account, you can ignore this message.',
  ),
  reset: paragraphs(
    'Hello,',
    'someone asked to reset the password of {{email}}. To choose a new one, open this link within 30 minutes:',
    '{{link}}',
    'If it was not you, you can ignore this message: your password stays as it is.',
  ),
  otp: paragraphs(
    'Hello,',
    'your sign-in code is {{code}}. It is good for 10 minutes. You can also sign in with this link:',
    '{{link}}',
    'If you did not try to sign in, you can ignore this message.',
  ),
  change: paragraphs(
    'Hello,',
    'please confirm that {{email}} shall be the new address of your account:',
    '{{link}}',
    'If you did not ask for this, you can ignore this message.',
  ),
  change_notice: paragraphs(
    'Hello,',
    'the address of your account was changed from {{email}} to {{newEmail}}.',
    'If it was not you, please tell the people who run this service at once.',
  ),
};

export const emailTemplates = settingGroup('Email templates', ['auth'], {
  'app.url': unsetSetting(httpUrl, '', 'Base URL of your frontend, used in {{link}} and {{appUrl}}.'),
  'email.verify.subject': setting(
    subject(templateVariables.verify),
    'Verify your email',
    'Subject of the verification mail.',
  ),
  'email.verify.body': setting(body(templateVariables.verify), bodies.verify, 'Text of the verification mail.'),
  'email.reset.subject': setting(
    subject(templateVariables.reset),
    'Reset your password',
    'Subject of the password reset mail.',
  ),
  'email.reset.body': setting(body(templateVariables.reset), bodies.reset, 'Text of the password reset mail.'),
  'email.otp.subject': setting(
    subject(templateVariables.otp),
    'Your sign-in code',
    'Subject of the one-time code mail.',
  ),
  'email.otp.body': setting(body(templateVariables.otp), bodies.otp, 'Text of the one-time code mail.'),
  'email.change.subject': setting(
    subject(templateVariables.change),
    'Confirm your new address',
    'Subject of the mail that confirms a new address.',
  ),
  'email.change.body': setting(
    body(templateVariables.change),
    bodies.change,
    'Text of the mail that confirms a new address.',
  ),
  'email.change_notice.subject': setting(
    subject(templateVariables.change_notice),
    'Your address was changed',
    'Subject of the notice to the old address.',
  ),
  'email.change_notice.body': setting(
    body(templateVariables.change_notice),
    bodies.change_notice,
    'Text of the notice to the old address.',
  ),
});
