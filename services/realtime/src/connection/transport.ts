import type { Frame } from '../messages/frame.ts';

/** Why the service ends a connection. */
export type EndReason = 'revoked' | 'too_slow' | 'shutdown' | 'bad_message' | 'too_large' | 'not_text' | 'client';

/** A connection's client end: an answer that stays open, or a WebSocket. */
export interface Transport {
  /** Sends a message; `id` is the cursor from which the connection may be resumed after it. */
  send(frame: Frame, id: string | undefined): void;
  /** Sends only the cursor, if the transport can. */
  sendCursor(id: string): void;
  /** Bytes that were sent and have not left the process. */
  readonly unsentBytes: number;
  /** Ends the connection after the sent messages. */
  end(reason: EndReason): void;
}
