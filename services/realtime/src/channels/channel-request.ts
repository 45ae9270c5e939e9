import { z } from 'zod';
import { channelName } from './channel-name.ts';

const maxKeyLength = 100;
const maxStateBytes = 4096;

const presence = z
  .strictObject({
    key: z.string().min(1).max(maxKeyLength),
    state: z
      .unknown()
      .refine((state) => Buffer.byteLength(textOf(state)) <= maxStateBytes, `must have at most ${maxStateBytes} bytes`)
      .optional(),
  })
  .transform(({ key, state }): PresenceRequest => ({ key, state: textOf(state) }));

/** A state's JSON text; without one it is null. */
const textOf = (state: unknown): string => JSON.stringify(state ?? null);

/** A client's subscription to a channel (realtime §7.3). */
export const channelSubscription = z
  .strictObject({
    id: z.string().min(1).max(100).optional(),
    channel: channelName,
    presence: presence.optional(),
  })
  .meta({ id: 'ChannelSubscription' });

/** A client's presence: a key, and its state as JSON text. */
export interface PresenceRequest {
  readonly key: string;
  readonly state: string;
}

/** A parsed subscription to a channel. */
export interface ChannelSubscriptionRequest {
  readonly id: string;
  readonly channel: string;
  readonly presence: PresenceRequest | undefined;
}
