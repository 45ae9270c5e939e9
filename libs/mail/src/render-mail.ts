import type { Settings } from '@recordbus/settings';
import { fillTemplate, type Variables } from './fill-template.ts';
import { escapeHtml, htmlOfText, isHtml } from './html.ts';
import type { MailTemplate, SettingsTemplate } from './mail.ts';
import { textOfHtml } from './text-of-html.ts';

/** A mail as its reader sees it. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What is known of a queued mail when it is rendered. */
interface MailContent {
  readonly template: MailTemplate;
  readonly to: string;
  /** What came with it: `collection`, `token`, `code`, `newEmail`; of one's own mail `subject`, `text`, `html`. */
  readonly variables: Variables;
}

/** Where a link leads, below app.url; the page there hands its token to the API. */
const linkPaths: Readonly<Record<SettingsTemplate, string | undefined>> = {
  verify: '/verify-email',
  reset: '/reset-password',
  otp: '/sign-in',
  change: '/confirm-email-change',
  change_notice: undefined,
};

/**
 * Fills the template's settings as they are now. Links start with app.url, never with what a request said (a forged
 * Host header would send the token elsewhere).
 */
export function renderMail(settings: Pick<Settings, 'get'>, { template, to, variables }: MailContent): RenderedMail {
  if (template === 'own') return renderOwn(variables);
  const appUrl = settings.get('app.url').replace(/\/+$/, '');
  const all = { ...variables, email: to, appUrl, link: linkOf(template, appUrl, variables) };
  const body = settings.get(`email.${template}.body`);
  const [text, html] = isHtml(body) ? [textOfHtml(body), body] : [body, htmlOfText(body)];
  return {
    subject: oneLine(fillTemplate(settings.get(`email.${template}.subject`), all, (value) => value)),
    text: fillTemplate(text, all, (value) => value),
    html: fillTemplate(html, all, escapeHtml),
  };
}

const renderOwn = ({ subject = '', text = '', html }: Variables): RenderedMail => ({
  subject: oneLine(subject),
  text,
  html: html ?? htmlOfText(text),
});

function linkOf(template: SettingsTemplate, appUrl: string, { collection = '', token = '' }: Variables): string {
  const path = linkPaths[template];
  return path ? `${appUrl}${path}?${new URLSearchParams({ collection, token })}` : '';
}

/** A value with a line break in it must not begin another header. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
