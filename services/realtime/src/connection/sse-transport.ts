import type { ServerResponse } from 'node:http';
import type { Transport } from './transport.ts';

/** The head of a server-sent events answer. Proxies must not buffer it (nginx reads `X-Accel-Buffering`). */
export const sseHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** Creates the transport over an answer whose head has been sent. */
export const createSseTransport = (response: ServerResponse): Transport => ({
  send: (frame, id) => void response.write(frame.sse(id)),
  // An event without data reaches no listener, but the client keeps its id.
  sendCursor: (id) => void response.write(`id: ${id}\n\n`),
  get unsentBytes() {
    return response.writableLength;
  },
  end(reason) {
    // A client that does not read would never see the end.
    if (reason === 'too_slow') response.destroy();
    else response.end();
  },
});
