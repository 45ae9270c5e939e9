import type { IncomingMessage, ServerResponse } from 'node:http';

/** The events whose listeners read a body. */
const readingEvents: readonly (string | symbol)[] = ['readable', 'data'];

/**
 * Sends 100 Continue to a client that waits with its body (`Expect: 100-continue`, RFC 9110 §10.1.1) once a handler
 * begins to read it. The client of a request that is refused by its head never sends the body.
 */
export function continueOnDemand(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (!readingEvents.includes(event)) return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
}
