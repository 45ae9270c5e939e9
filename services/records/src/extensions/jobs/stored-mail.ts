import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import type { MailInput } from '@recordbus/extension-host';
import type { IncomingMail } from '@recordbus/extensions';

/** A mail as a provider passed it on, before it has an id. */
export type ReceivedMail = Omit<IncomingMail, 'id' | 'attempt' | 'received'>;

/** A mail in `system.inbound_mails`. */
interface StoredMail {
  /** Its attachments have no content. */
  readonly mail: ReceivedMail;
  /** The attachments' contents in base64. */
  readonly contents: readonly (string | null)[];
}

/** A mail as JSON text, to be stored. */
export function mailText({ attachments, ...mail }: ReceivedMail): string {
  const stored: StoredMail = {
    mail: { ...mail, attachments: attachments.map((one) => ({ ...one, content: null })) },
    contents: attachments.map(({ content }) => content && Buffer.from(content).toString('base64')),
  };
  return JSON.stringify(stored);
}

/** Reads a decrypted mail. */
export const readStoredMail = (text: string): StoredMail => JSON.parse(text) as StoredMail;

interface MailJob {
  readonly id: string;
  readonly attempt: number;
}

/** Reads the mail that a job takes to its extension. Throws if the key that encrypted it is missing. */
export async function readMailInput(
  query: Query,
  cipher: Pick<ValueCipher, 'decrypt'>,
  { id, attempt }: MailJob,
): Promise<MailInput> {
  const [row] = await query<{ id: string; content: string; received: number }>({
    name: 'extension-jobs.read mail',
    text: `select m.id, m.content, floor(extract(epoch from m.received_at))::bigint as received
      from system.extension_jobs j join system.inbound_mails m on m.id = j.mail_id where j.id = $1`,
    values: [id],
  });
  if (!row) throw new Error('the mail is gone');
  const text = cipher.decrypt(row.content);
  if (text === undefined) throw new Error('the mail cannot be decrypted: the encryption key is missing or another one');
  const { mail, contents } = readStoredMail(text);
  return {
    mail: JSON.stringify({ ...mail, id: row.id, attempt, received: row.received }),
    contents: contents.map((base64) => (base64 === null ? null : Buffer.from(base64, 'base64'))),
  };
}
