import { malformed } from '@recordbus/errors';
import { z } from 'zod';
import { readJson, readText } from './provider.ts';

/** What SNS posts (https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html). */
const message = z.looseObject({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string().max(200),
  TopicArn: z.string().max(512),
  Subject: z.string().nullish(),
  Message: z.string(),
  Timestamp: z.string().max(64),
  Token: z.string().max(4096).optional(),
  SubscribeURL: z.string().max(4096).optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string().max(2048),
  SigningCertURL: z.string().max(2048),
});

export type SnsMessage = z.output<typeof message>;

/** Reads a message. Throws 400 for another body. */
export function readSnsMessage(body: Uint8Array): SnsMessage {
  const read = message.safeParse(readJson(readText(body)));
  if (!read.success) throw malformed('the body is not a message of Amazon SNS');
  return read.data;
}

/** The members that SNS signs, in this order, of those that a message has. */
const signed = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;

/** The text that SNS signs. */
export const signedText = (given: SnsMessage): string =>
  signed[given.Type].map((name) => (given[name] == null ? '' : `${name}\n${given[name]}\n`)).join('');

/** A topic's parts: `arn:aws:sns:eu-central-1:123456789012:inbound`. */
const topicArn = /^arn:aws(?:-cn|-us-gov)?:sns:([a-z]{2}(?:-[a-z]{1,20}){1,3}-\d{1,2}):\d{12}:[\w-]{1,256}(?:\.fifo)?$/;

/** Returns the host of the topic's region; undefined for a text that is no topic. */
export function snsHostOf(arn: string): string | undefined {
  const region = topicArn.exec(arn)?.[1];
  return region && `sns.${region}.amazonaws.com${arn.startsWith('arn:aws-cn:') ? '.cn' : ''}`;
}
