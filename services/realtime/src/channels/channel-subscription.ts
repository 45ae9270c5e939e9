import type { Connection, Followed } from '../connection/connection.ts';
import type { ChannelSubscriptionRequest, PresenceRequest } from './channel-request.ts';

/** A connection's subscription to a channel. */
export class ChannelSubscription implements Followed {
  readonly id: string;
  readonly connection: Connection;
  readonly channel: string;
  readonly presence: PresenceRequest | undefined;
  /** Channels are not resumed. */
  readonly through = Number.POSITIVE_INFINITY;
  /** The subscription gets its channel's messages with higher numbers. */
  from = 0;
  /** The rule that admitted it, and when to check the rule again. */
  admission: Admission;
  readonly #onLeave: (left: ChannelSubscription) => void;
  #isLeft = false;

  constructor(
    { id, channel, presence }: ChannelSubscriptionRequest,
    connection: Connection,
    admission: Admission,
    onLeave: (left: ChannelSubscription) => void,
  ) {
    this.id = id;
    this.connection = connection;
    this.channel = channel;
    this.presence = presence;
    this.admission = admission;
    this.#onLeave = onLeave;
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }

  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#onLeave(this);
  }
}

/** How a subscription was admitted. */
export interface Admission {
  readonly rule: string | null;
  /** By `performance.now()`. */
  readonly checkAgainAtMs: number;
}
