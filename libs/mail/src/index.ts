export type { MailOutcome } from './attempt-mail.ts';
export { enqueueMail } from './enqueue-mail.ts';
export { isMailConfigured } from './is-mail-configured.ts';
export type { Mail } from './mail.ts';
export { listMails, mailStates, tidyMailLog } from './mail-log.ts';
export { createMailSender, type MailSender } from './mail-sender.ts';
export { sendTestMail } from './send-test-mail.ts';
export { loadMailer } from './smtp-client.ts';
