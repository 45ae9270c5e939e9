import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a listener has to be for to read a body. */
const readingEvents: readonly (string | symbol)[] = ['readable', 'data'];

/**
 * Tells a client that waits with its body (`Expect: 100-continue`, RFC 9110 §10.1.1) to go on once somebody begins to
 * read it: what is refused by its head alone is never sent.
 */
export function continueOnDemand(request: IncomingMessage, response: ServerResponse): void {
  const tell = (event: string | symbol): void => {
    if (!readingEvents.includes(event)) return;
    request.off('newListener', tell);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', tell);
}
