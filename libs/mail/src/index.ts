export { enqueueMail } from './enqueue-mail.ts';
export { isMailConfigured } from './is-mail-configured.ts';
export type { Mail, MailTemplate } from './mail.ts';
