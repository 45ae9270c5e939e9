import type { IncomingMessage } from 'node:http';

/** Requests that this gateway makes for PocketBase's clients. Nothing in a request of a client says so. */
export const translatedRequests = new WeakSet<IncomingMessage>();
