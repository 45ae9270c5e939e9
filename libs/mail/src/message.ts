/** A person or a place that gets mail. */
export interface Mailbox {
  /** Empty for none. */
  readonly name: string;
  readonly address: string;
}

/** Bytes that go with a mail. */
export interface Attachment {
  readonly name: string;
  /** The media type. */
  readonly type: string;
  readonly content: Uint8Array;
}

/** A mail that carries its own text (mail §5). */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  /** More headers, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** With its angle brackets. */
  readonly messageId: string;
  readonly attachments: readonly Attachment[];
}

/** What the queue keeps of a message: not its blind copies, which are recipients like the others. */
export type MessageContent = Omit<Message, 'bcc'>;

/** Writes a content as JSON text. */
export const contentText = ({ attachments, ...rest }: MessageContent): string =>
  JSON.stringify({
    ...rest,
    attachments: attachments.map(({ content, ...one }) => ({
      ...one,
      content: Buffer.from(content).toString('base64'),
    })),
  });

/** Reads what `contentText` wrote. */
export function readContent(text: string): MessageContent {
  const { attachments, ...rest } = JSON.parse(text) as Omit<MessageContent, 'attachments'> & {
    readonly attachments: readonly (Omit<Attachment, 'content'> & { readonly content: string })[];
  };
  return {
    ...rest,
    attachments: attachments.map(({ content, ...one }) => ({ ...one, content: Buffer.from(content, 'base64') })),
  };
}

/** Each recipient of a message once, whatever the case of its address. */
export function recipientsOf({ to, cc, bcc }: Pick<Message, 'to' | 'cc' | 'bcc'>): string[] {
  const byAddress = new Map([...to, ...cc, ...bcc].map(({ address }) => [address.toLowerCase(), address]));
  return [...byAddress.values()];
}
