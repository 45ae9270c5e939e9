import type { LiveCaller } from '@recordbus/live';
import type { Principal, RequestContext } from '@recordbus/request/context';
import type { Frame } from '../messages/frame.ts';
import { messages } from '../messages/messages.ts';
import type { EndReason, Transport } from './transport.ts';
import { UnsentMessages } from './unsent-messages.ts';

/** Something that a connection follows. */
export interface Followed {
  /** The id that the client gave it, or its number. */
  readonly id: string;
  /**
   * The sequence number up to which its messages were sent. Infinite if it cannot be resumed, negative if it cannot be
   * resumed yet.
   */
  readonly through: number;
  /** Stops following. The connection calls it once. */
  leave(): void;
}

/**
 * A connection with more unsent bytes than this is closed at its next message. Its client reconnects with its cursor
 * (realtime §6.1).
 */
const maxUnsentBytes = 2 ** 20;
const maxUnsentMessages = 1000;

interface ConnectionOptions {
  readonly context: RequestContext;
  readonly caller: Omit<LiveCaller, 'principal'>;
  readonly transport: Transport;
  /** Returns a cursor's text in the current epoch. */
  readonly cursorAt: (seq: number) => string;
  readonly onEnd: (connection: Connection, reason: EndReason) => void;
}

/** One client's connection and its subscriptions. */
export class Connection {
  readonly context: RequestContext;
  readonly followed = new Map<string, Followed>();
  #principal: Principal;
  readonly #options: ConnectionOptions;
  readonly #unsent = new UnsentMessages();
  /** The last cursor that it was sent to resume from. */
  #resumable = 0;
  #isEnded = false;
  /** The unsent bytes at the last heartbeat. */
  #stuckAt = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.context = options.context;
    this.#principal = options.context.principal;
  }

  get principal(): Principal {
    return this.#principal;
  }

  /** Continues with the same account's new token, or signs a guest in. */
  set principal(principal: Principal) {
    this.#principal = principal;
  }

  /** The subscriptions' caller, for rules. */
  get caller(): LiveCaller {
    return { ...this.#options.caller, principal: this.#principal, address: this.context.clientAddress };
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get unsentBytes(): number {
    return this.#options.transport.unsentBytes;
  }

  /**
   * The sequence number up to which it was sent everything; `end` if it follows nothing. Negative while it cannot be
   * resumed because a snapshot must come first.
   */
  through(end: number): number {
    return Math.min(this.#through(), end);
  }

  /** Sends a message that is not about a change. `seq` is the position in the message, if it has one. */
  send(frame: Frame, seq?: number): void {
    this.#send(frame, seq !== undefined && seq <= this.#through() ? seq : undefined);
  }

  /** Sends a message about the change at `seq`, for the subscription `about`. */
  sendChange(frame: Frame, seq: number, about: Followed): void {
    this.#send(frame, this.#through(about) >= seq ? seq : undefined);
  }

  /**
   * Sends a heartbeat at the stream's end; `frame` has that position. While other messages are unsent, no heartbeat is
   * needed, and a client that has read none of them since the last heartbeat is gone.
   */
  beat(end: number, frame: Frame): void {
    const { unsentBytes } = this;
    const isStuck = unsentBytes > 0 && unsentBytes === this.#stuckAt;
    this.#stuckAt = unsentBytes;
    if (isStuck) this.end('too_slow');
    if (unsentBytes > 0) return;
    const through = this.through(end);
    if (through < 0) this.#send(messages.heartbeat(), undefined);
    else this.#send(through === end ? frame : messages.heartbeat(this.#options.cursorAt(through)), through);
  }

  /** Sends the cursor from which it may be resumed, if no message has had it. */
  flushCursor(): void {
    const through = this.#through();
    if (this.#isEnded || !Number.isFinite(through) || through <= this.#resumable) return;
    this.#resumable = through;
    this.#options.transport.sendCursor(this.#options.cursorAt(through));
  }

  /** Forgets that cursor, because the stream was created again. */
  restart(): void {
    this.#resumable = 0;
  }

  /** Ends one subscription. Returns false if there is none with this id. */
  unfollow(id: string): boolean {
    const followed = this.followed.get(id);
    followed?.leave();
    return this.followed.delete(id);
  }

  /** Ends the connection, after a last message if there is one. */
  end(reason: EndReason, last?: Frame): void {
    if (this.#isEnded) return;
    if (last) this.#options.transport.send(last, undefined);
    this.#isEnded = true;
    for (const followed of this.followed.values()) followed.leave();
    this.followed.clear();
    this.#options.transport.end(reason);
    this.#options.onEnd(this, reason);
  }

  #send(frame: Frame, seq: number | undefined): void {
    if (this.#isEnded) return;
    const { transport, cursorAt } = this.#options;
    if (seq !== undefined) this.#resumable = seq;
    const before = transport.unsentBytes;
    transport.send(frame, seq === undefined ? undefined : cursorAt(seq));
    const unsentBytes = transport.unsentBytes;
    const isSlow =
      this.#unsent.add(Math.max(unsentBytes - before, 0), unsentBytes) > maxUnsentMessages || before > maxUnsentBytes;
    if (isSlow) this.end('too_slow');
  }

  /** The position up to which all subscriptions except `about` were sent everything. */
  #through(about?: Followed): number {
    let least = Number.POSITIVE_INFINITY;
    for (const followed of this.followed.values()) if (followed !== about) least = Math.min(least, followed.through);
    return least;
  }
}
