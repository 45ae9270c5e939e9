import { boundedText } from '@recordbus/text/bounded-text';
import { type Setting, setting, settingGroup, unsetSetting } from './setting.ts';
import { block, httpUrl, languageTag, line } from './text-schemas.ts';

const commonVariables = ['email', 'token', 'link', 'appUrl', 'collection'] as const;

/** Each template's variables (mail §2.1, §2.2). Only codes have `code`. Notices have no token or link. */
const templateVariables = {
  verify: commonVariables,
  reset: commonVariables,
  otp: [...commonVariables, 'code'],
  mfa: ['email', 'code', 'appUrl', 'collection'],
  change: commonVariables,
  change_notice: ['email', 'newEmail', 'appUrl', 'collection'],
  change_undo: [...commonVariables, 'newEmail'],
  password_notice: ['email', 'appUrl', 'collection'],
  removed_notice: ['email', 'removed', 'appUrl', 'collection'],
  webhook_failing: ['email', 'webhook', 'host', 'since', 'appUrl', 'collection'],
  webhook_disabled: ['email', 'webhook', 'host', 'reason', 'appUrl', 'collection'],
} as const;

/** Returns a template's first unknown variable. Without this check the first recipient would see the misspelling. */
function unknownVariable(text: string, known: readonly string[]): string | undefined {
  return [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name).find((name) => !known.includes(name));
}

const withKnownVariables = <S extends ReturnType<typeof line>>(schema: S, known: readonly string[]) =>
  schema.refine((text) => unknownVariable(text, known) === undefined, {
    error: ({ input }) =>
      `{{${unknownVariable(String(input), known)}}} is not a variable of this template: ${known.map((name) => `{{${name}}}`).join(', ')} are`,
  });

const subject = (known: readonly string[]) => withKnownVariables(line(400), known);
const body = (known: readonly string[]) => withKnownVariables(block(100_000), known);

const paragraphs = (...parts: string[]) => `${parts.join('\n\n')}\n`;

const bodies = {
  verify: paragraphs(
    'Hello,',
    'Please confirm that {{email}} is your address:',
    '{{link}}',
    'If you did not create an account, you can ignore this message.',
  ),
  reset: paragraphs(
    'Hello,',
    'Someone asked to reset the password of {{email}}. To choose a new one, open this link within 30 minutes:',
    '{{link}}',
    'If it was not you, you can ignore this message: your password stays as it is.',
  ),
  otp: paragraphs(
    'Hello,',
    'Your sign-in code is {{code}}. It is valid for 10 minutes. You can also sign in with this link:',
    '{{link}}',
    'If you did not try to sign in, you can ignore this message.',
  ),
  mfa: paragraphs(
    'Hello,',
    'The code that completes your sign-in is {{code}}. It is valid for 10 minutes.',
    'If you did not try to sign in, someone knows your password: please choose another one.',
  ),
  change: paragraphs(
    'Hello,',
    'Please confirm {{email}} as the new address of your account:',
    '{{link}}',
    'If you did not ask for this, you can ignore this message.',
  ),
  change_notice: paragraphs(
    'Hello,',
    'The address of your account was changed from {{email}} to {{newEmail}}.',
    'If it was not you, please contact the people who run this service at once.',
    'If you have no account here, you can ignore this message.',
  ),
  change_undo: paragraphs(
    'Hello,',
    'The address of your account was changed from {{email}} to {{newEmail}}.',
    'If it was not you, open this link soon. It lasts 7 days at most, restores your address and ends all sessions:',
    '{{link}}',
    'If you have no account here, you can ignore this message.',
  ),
  password_notice: paragraphs(
    'Hello,',
    'The password of your account {{email}} was changed.',
    'If it was not you, set a new one and sign out all sessions: {{appUrl}}',
  ),
  removed_notice: paragraphs(
    'Hello,',
    'The following can no longer be used to sign in to your account {{email}}: {{removed}}.',
    'If you did not expect this, please contact the people who run this service at once.',
  ),
  webhook_failing: paragraphs(
    'Hello,',
    'Every request to your webhook {{webhook}} at {{host}} has failed since {{since}}.',
    'What failed stays in its log, and can be sent again once it works. If this lasts, the webhook will be disabled.',
    'You get this message because {{email}} is the address of its owner.',
  ),
  webhook_disabled: paragraphs(
    'Hello,',
    'Your webhook {{webhook}} at {{host}} was disabled: {{reason}}.',
    'It gets no events until it is enabled. What failed stays in its log, and can then be sent again.',
    'You get this message because {{email}} is the address of its owner.',
  ),
};

type TemplateName = keyof typeof templateVariables;
type TextInLanguage = `email.${TemplateName}.${'subject' | 'body'}.<lang>`;

/** A template's texts in other languages (mail §2.7). */
const textsInLanguages = Object.fromEntries(
  Object.entries(templateVariables).flatMap(([name, known]): [string, Setting<string>][] => [
    [`email.${name}.subject.<lang>`, unsetSetting(subject(known), '', 'The subject in another language.')],
    [`email.${name}.body.<lang>`, unsetSetting(body(known), '', 'The text in another language.')],
  ]),
) as Readonly<Record<TextInLanguage, Setting<string>>>;

/** Mails in the language of their account. */
export const mailLanguageFamilies = {
  'mail.locale_field.<collection>': unsetSetting(
    boundedText(63).regex(/^[A-Za-z][A-Za-z0-9_]{0,62}$/, 'must be the name of a field'),
    '',
    "The accounts' field with the language of their mails, such as de or pt-BR.",
  ),
  ...textsInLanguages,
};

const emailSettings = {
  'app.url': unsetSetting(httpUrl, '', 'Base URL of your frontend, used in {{link}} and {{appUrl}}.'),
  'email.lang': setting(languageTag, 'en', 'Mail language, for screen readers and translators.'),
  'email.verify.subject': setting(subject(templateVariables.verify), 'Verify your email', 'Verification mail subject.'),
  'email.verify.body': setting(body(templateVariables.verify), bodies.verify, 'Verification mail text.'),
  'email.reset.subject': setting(
    subject(templateVariables.reset),
    'Reset your password',
    'Password reset mail subject.',
  ),
  'email.reset.body': setting(body(templateVariables.reset), bodies.reset, 'Password reset mail text.'),
  'email.otp.subject': setting(subject(templateVariables.otp), 'Your sign-in code', 'One-time code mail subject.'),
  'email.otp.body': setting(body(templateVariables.otp), bodies.otp, 'One-time code mail text.'),
  'email.mfa.subject': setting(
    subject(templateVariables.mfa),
    'Your sign-in code',
    'Subject for the code that is a second factor.',
  ),
  'email.mfa.body': setting(body(templateVariables.mfa), bodies.mfa, 'Text for the code that is a second factor.'),
  'email.change.subject': setting(
    subject(templateVariables.change),
    'Confirm your new address',
    'Subject for the mail that confirms a new address.',
  ),
  'email.change.body': setting(
    body(templateVariables.change),
    bodies.change,
    'Text for the mail that confirms a new address.',
  ),
  'email.change_notice.subject': setting(
    subject(templateVariables.change_notice),
    'Your address was changed',
    'Subject for the notice to the old address.',
  ),
  'email.change_notice.body': setting(
    body(templateVariables.change_notice),
    bodies.change_notice,
    'Text for the notice to the old address.',
  ),
  'email.change_undo.subject': setting(
    subject(templateVariables.change_undo),
    'Your address was changed',
    'Subject for the mail to the old address with the link that undoes the change.',
  ),
  'email.change_undo.body': setting(
    body(templateVariables.change_undo),
    bodies.change_undo,
    'Text for the mail to the old address with the link that undoes the change.',
  ),
  'email.password_notice.subject': setting(
    subject(templateVariables.password_notice),
    'Your password was changed',
    'Subject for the new-password notice.',
  ),
  'email.password_notice.body': setting(
    body(templateVariables.password_notice),
    bodies.password_notice,
    'Text for the new-password notice.',
  ),
  'email.removed_notice.subject': setting(
    subject(templateVariables.removed_notice),
    'A way to sign in was removed',
    'Subject for the notice that an account lost a way to sign in.',
  ),
  'email.removed_notice.body': setting(
    body(templateVariables.removed_notice),
    bodies.removed_notice,
    'Text for the notice that an account lost a way to sign in.',
  ),
  'email.webhook_failing.subject': setting(
    subject(templateVariables.webhook_failing),
    'Your webhook fails',
    "Subject for the notice to a webhook's owner that all its requests fail.",
  ),
  'email.webhook_failing.body': setting(
    body(templateVariables.webhook_failing),
    bodies.webhook_failing,
    "Text for the notice to a webhook's owner that all its requests fail.",
  ),
  'email.webhook_disabled.subject': setting(
    subject(templateVariables.webhook_disabled),
    'Your webhook was disabled',
    'Subject for the notice to the owner of a disabled webhook.',
  ),
  'email.webhook_disabled.body': setting(
    body(templateVariables.webhook_disabled),
    bodies.webhook_disabled,
    'Text for the notice to the owner of a disabled webhook.',
  ),
};

export const emailTemplates = settingGroup('Email templates', ['auth'], emailSettings, mailLanguageFamilies);
