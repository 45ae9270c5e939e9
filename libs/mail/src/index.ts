export { enqueueMail } from './enqueue-mail.ts';
export { isMailConfigured } from './is-mail-configured.ts';
export type { Mail } from './mail.ts';
export { createMailSender, type MailOutcome, type MailSender } from './mail-sender.ts';
export { sendTestMail } from './send-test-mail.ts';
