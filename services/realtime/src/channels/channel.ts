import { startSlice } from '@recordbus/limits/time-slice';
import { broadcastMessage, type ChannelMessage, presenceChange, presentMessage } from './channel-frames.ts';
import type { ChannelSubscription } from './channel-subscription.ts';
import type { Members } from './members.ts';
import { ShownMembers } from './shown-members.ts';

interface ChannelDeps {
  readonly members: Pick<Members, 'find' | 'keysOf'>;
  readonly onSent: (type: ChannelMessage['type']) => void;
  /** Called with a broadcast that is dropped because too many wait. */
  readonly onDropped: (channel: string) => void;
}

/** Broadcasts that wait while earlier ones are being sent; more are dropped. They are at most 64 KiB each. */
const maxWaiting = 256;

/** The pause between two presence messages. It grows with the subscriptions that get them. */
const presencePauseMs = { least: 20, most: 300, perSubscription: 0.03 } as const;

/** This replica's subscriptions to one channel. */
export class Channel {
  readonly name: string;
  readonly subscriptions = new Set<ChannelSubscription>();
  readonly #deps: ChannelDeps;
  readonly #waiting: { readonly message: ChannelMessage; readonly number: number }[] = [];
  /** The last message's number. */
  #number = 0;
  #isSending = false;
  /** Undefined while no subscription has presence. */
  #shown: ShownMembers | undefined;
  #present: ChannelMessage | undefined;
  #watchers = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(name: string, deps: ChannelDeps) {
    this.name = name;
    this.#deps = deps;
  }

  /** Adds a subscription, whose member has been noted, and sends it all members. */
  add(subscription: ChannelSubscription): void {
    // Until it has the members it gets no messages.
    subscription.from = Number.POSITIVE_INFINITY;
    this.subscriptions.add(subscription);
    if (subscription.presence) {
      this.#watchers += 1;
      if (!this.#shown) this.#toldAtMs = Number.NEGATIVE_INFINITY;
      this.#shown ??= new ShownMembers(this.name, this.#deps.members);
      if (this.#pauseLeftMs() === 0) this.#tellPresence();
      this.#present ??= presentMessage(this.name, this.#shown.entries);
      subscription.connection.send(this.#present.of(subscription.id));
      this.#deps.onSent('presence');
    }
    subscription.from = this.#number;
  }

  remove(subscription: ChannelSubscription): void {
    if (!this.subscriptions.delete(subscription) || !subscription.presence) return;
    this.#watchers -= 1;
    if (this.#watchers > 0) return;
    clearTimeout(this.#timer);
    this.#timer = this.#shown = this.#present = undefined;
  }

  broadcast(data: string, from: string): void {
    if (this.#waiting.length >= maxWaiting) this.#deps.onDropped(this.name);
    else this.#send(broadcastMessage(this.name, data, from));
  }

  /** Notes that a member has joined, changed or left. */
  noteMember(key: string): void {
    if (!this.#shown) return;
    this.#shown.note(key);
    this.#timer ??= setTimeout(() => this.#tellPresence(), this.#pauseLeftMs()).unref();
  }

  #pauseLeftMs(): number {
    const { least, most, perSubscription } = presencePauseMs;
    const pauseMs = Math.min(least + perSubscription * this.#watchers, most);
    return Math.max(this.#toldAtMs + pauseMs - performance.now(), 0);
  }

  #tellPresence(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const change = this.#shown?.take();
    if (!change) return;
    this.#toldAtMs = performance.now();
    this.#present = undefined;
    this.#send(presenceChange(this.name, change.joined, change.left));
  }

  #send(message: ChannelMessage): void {
    this.#number += 1;
    this.#waiting.push({ message, number: this.#number });
    if (!this.#isSending) void this.#sendWaiting();
  }

  /** Sends the waiting messages in order. The process's other work runs between slices. */
  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    const slice = startSlice();
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { message, number } = next;
      // A subscription that is added meanwhile does not get this message.
      for (const subscription of this.subscriptions) {
        if (subscription.from >= number || (message.type === 'presence' && !subscription.presence)) continue;
        subscription.connection.send(message.of(subscription.id));
        this.#deps.onSent(message.type);
        if (slice.isOver()) await slice.pause();
      }
    }
    this.#isSending = false;
  }
}
