import { newId } from '@recordbus/database';
import { AppError, validationFailed } from '@recordbus/errors';
import type { Settings } from '@recordbus/settings';
import { isMailConfigured } from './is-mail-configured.ts';
import { isMailableAddress } from './mailable-address.ts';
import { readSendFailure } from './send-failure.ts';
import { createSmtpClient } from './smtp-client.ts';

const text = 'Hello,\n\nthis is a test: mail from your server arrives.\n';
const html = '<p>Hello,</p>\n<p>this is a test: mail from your server arrives.</p>';

/**
 * Sends a mail at once, past the queue, to test the settings (mail §1.4). Throws 422 when mail is not configured or the
 * address is not mailable, and 502 with the server's reply when the server refuses the mail.
 */
export async function sendTestMail(settings: Pick<Settings, 'get'>, to: string): Promise<void> {
  if (!isMailableAddress(to)) throw validationFailed({ to: 'no mail can be sent to this address' });
  if (!isMailConfigured(settings))
    throw new AppError(422, 'mail_not_configured', 'mail is not configured: set smtp.enabled, smtp.host and smtp.from');
  const client = await createSmtpClient(settings);
  try {
    await client.send({ id: newId(), recipient: to, subject: 'A test mail', text, html });
  } catch (error) {
    const { reason } = readSendFailure(error);
    throw new AppError(502, 'mail_not_sent', `the mail was not sent: ${reason}`, { details: { server: reason } });
  } finally {
    client.close();
  }
}
