import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { toServiceHeaders } from './forwarded-headers.ts';

interface ServiceRequestOptions {
  /** Signs the request's context. */
  readonly sign: () => string;
  readonly body: Readable | null;
  readonly upgrade?: string;
}

/**
 * A client's request as a service gets it. A request may wait for a free connection, and a signed context is good for
 * seconds, so the context is signed when undici reads the headers: when a connection takes the request. A class getter,
 * because a getter in an object literal would give each request its own hidden class.
 */
export class ServiceRequest implements Dispatcher.DispatchOptions {
  readonly path: string;
  readonly method: string;
  readonly body: Readable | null;
  readonly upgrade: string | undefined;
  readonly #headers: IncomingHttpHeaders;
  readonly #sign: () => string;

  constructor(request: IncomingMessage, { sign, body, upgrade }: ServiceRequestOptions) {
    this.path = request.url ?? '/';
    this.method = request.method ?? 'GET';
    this.body = body;
    this.upgrade = upgrade;
    this.#headers = request.headers;
    this.#sign = sign;
  }

  get headers(): string[] {
    return toServiceHeaders(this.#headers, this.#sign(), this.body !== null);
  }
}
