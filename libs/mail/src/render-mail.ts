import type { Settings } from '@recordbus/settings';
import { withoutTrailingSlashes } from '@recordbus/text/base-url';
import { escapeHtml, htmlOfText, isHtml, wholeDocument } from './html.ts';
import { languagesFrom } from './language.ts';
import type { MailTemplate, SettingsTemplate } from './mail.ts';
import type { MessageContent } from './message.ts';
import { textOfHtml } from './text-of-html.ts';

/** A mail's subject and both parts (mail §2.5). */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A queued mail before it is rendered. */
interface MailContent {
  readonly template: MailTemplate;
  readonly to: string;
  /**
   * For templates `lang`, `collection`, `token`, `code`, `newEmail`, `removed`, `webhook`, `host`, `since`, `reason`;
   * for an own mail `subject`, `text`, `html`.
   */
  readonly variables: Variables;
}

/** Link paths below app.url (mail §2.2). The page at the path posts the token to the API. */
const linkPaths: Readonly<Record<SettingsTemplate, string | undefined>> = {
  verify: '/verify-email',
  reset: '/reset-password',
  otp: '/sign-in',
  mfa: undefined,
  change: '/confirm-email-change',
  change_notice: undefined,
  change_undo: '/undo-email-change',
  password_notice: undefined,
  removed_notice: undefined,
  webhook_failing: undefined,
  webhook_disabled: undefined,
};

type TemplateSettings = Pick<Settings, 'get' | 'getNamed'>;

/**
 * Fills the template from the current settings. Links begin with app.url, never with anything from a request, because a
 * forged Host header would send the token elsewhere (mail §2.4).
 */
export function renderMail(settings: TemplateSettings, { template, to, variables }: MailContent): RenderedMail {
  if (template === 'own' || template === 'message') return renderOwn(variables, settings.get('email.lang'));
  const appUrl = withoutTrailingSlashes(settings.get('app.url'));
  const all = { ...variables, email: to, appUrl, link: linkOf(template, appUrl, variables) };
  const { text: body, lang } = findText(settings, `email.${template}.body`, variables.lang);
  const [text, html] = isHtml(body) ? [textOfHtml(body), body] : [body, htmlOfText(body)];
  const { text: ofSubject } = findText(settings, `email.${template}.subject`, variables.lang);
  const subject = oneLine(fillTemplate(ofSubject, all, (value) => value));
  return {
    subject,
    text: fillTemplate(text, all, (value) => value),
    html: wholeDocument(fillTemplate(html, all, escapeHtml), { lang, title: subject }),
  };
}

/** Finds the text in a language, or in the nearest one that has it, and the language that it is in (mail §2.7). */
function findText(
  settings: TemplateSettings,
  key: `email.${SettingsTemplate}.${'subject' | 'body'}`,
  wanted: string | undefined,
): { readonly text: string; readonly lang: string } {
  for (const lang of wanted === undefined ? [] : languagesFrom(wanted)) {
    const text = settings.getNamed(`${key}.<lang>`, lang);
    if (text !== '') return { text, lang };
  }
  return { text: settings.get(key), lang: settings.get('email.lang') };
}

/** Fills a message's missing HTML part. */
export const renderMessage = (
  settings: Pick<Settings, 'get'>,
  { subject, text, html }: Pick<MessageContent, 'subject' | 'text' | 'html'>,
): RenderedMail => renderOwn({ subject, text, ...(html !== undefined && { html }) }, settings.get('email.lang'));

function renderOwn({ subject: given = '', text = '', html }: Variables, lang: string): RenderedMail {
  const subject = oneLine(given);
  return { subject, text, html: wholeDocument(html ?? htmlOfText(text), { lang, title: subject }) };
}

function linkOf(template: SettingsTemplate, appUrl: string, { collection = '', token = '' }: Variables): string {
  const path = linkPaths[template];
  return path ? `${appUrl}${path}?${new URLSearchParams({ collection, token })}` : '';
}

/** Replaces line breaks, so that a value cannot begin another header (mail §2.6). */
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** A template's variables by name. */
type Variables = Readonly<Record<string, string>>;

/**
 * Replaces each `{{name}}` with its value, passed through `write`; an unknown name becomes an empty text. Values are not
 * read as templates, so a value that looks like a variable stays as it is (mail §2.5).
 */
const fillTemplate = (template: string, variables: Variables, write: (value: string) => string): string =>
  template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(variables, name) ? write(variables[name] ?? '') : '',
  );
