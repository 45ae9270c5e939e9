import type { WebSocket } from 'ws';
import type { EndReason, Transport } from './transport.ts';

/** Close codes (RFC 6455 §7.4): the protocol's, and our own from 4000 on (realtime §1.4). */
const closeCodes: Readonly<Record<EndReason, number>> = {
  client: 1000,
  not_text: 1003,
  bad_message: 1008,
  too_large: 1009,
  shutdown: 1012,
  revoked: 4401,
  too_slow: 4408,
};

/** Creates the transport over a WebSocket. */
export const createWsTransport = (socket: WebSocket): Transport => ({
  send: (frame) => socket.send(frame.text(), { binary: false }),
  // Each message has its cursor, and there is no other place for one.
  sendCursor() {},
  get unsentBytes() {
    return socket.bufferedAmount;
  },
  end(reason) {
    socket.close(closeCodes[reason], reason);
    // A close would wait for the messages that the client does not read.
    if (reason === 'too_slow') socket.terminate();
  },
});
