import { mapOf } from '@recordbus/http/map-of';
import { z } from 'zod';

/** The push providers (notifications §1). */
export const providerNames = ['onesignal', 'fcm'] as const;
export type ProviderName = (typeof providerNames)[number];

const maxTargets = 1000;
/** Firebase accepts 4,096 bytes for everything, its own framing included. */
const maxMessageBytes = 3500;

const target = z.string('must be a string').min(1, 'must not be empty').max(4096, 'must have at most 4096 characters');

/** A notification's members (notifications §2.2). */
export const notificationSchema = z
  .strictObject({
    provider: z.enum(providerNames, `must be ${providerNames.join(' or ')}`).optional(),
    to: z.union(
      [
        target,
        z
          .array(target, 'must be a list')
          .min(1, 'must not be empty')
          .max(maxTargets, `must have at most ${maxTargets} targets`),
      ],
      'must be a target or a list of 1 to 1000 targets',
    ),
    title: z.string('must be a string').min(1, 'must not be empty'),
    body: z.string('must be a string').min(1, 'must not be empty'),
    data: mapOf(z.string('must be a string'), 'must be an object of strings').optional(),
  })
  .refine(({ title, body, data }) => Buffer.byteLength(JSON.stringify({ title, body, data })) <= maxMessageBytes, {
    path: ['body'],
    message: `title, body and data must have at most ${maxMessageBytes} bytes together`,
  });

export type Notification = z.output<typeof notificationSchema>;

/** One target's result (notifications §2.3). The caller should forget an `invalid` target. */
export interface TargetResult {
  readonly target: string;
  readonly status: 'sent' | 'invalid' | 'failed';
  /** The message's id at the provider. */
  readonly id?: string;
  /** The provider's message. */
  readonly error?: string;
}

export interface NotificationResult {
  readonly provider: ProviderName;
  readonly sent: number;
  readonly failed: number;
  /** In the order that `to` has. */
  readonly results: readonly TargetResult[];
}
