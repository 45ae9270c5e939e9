import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { endAheadOfBody, hasBody } from '@recordbus/http';
import { type Dispatcher, errors } from 'undici';
import { setClientHeaders } from './forwarded-headers.ts';
import type { HeldConnection, HeldConnections } from './held-connection.ts';
import { ServiceRequest } from './service-request.ts';

/** A request failed before its answer began. */
export class RelayError extends Error {
  /** False when no connection was made, so that the service has not seen the request. */
  readonly isSent: boolean;
  readonly isTimeout: boolean;

  constructor(cause: Error, isSent: boolean) {
    super(cause.message, { cause });
    this.isSent = isSent;
    this.isTimeout = cause instanceof errors.HeadersTimeoutError;
  }
}

/**
 * How many bytes of an answer wait here for its client. An answer that fits, with a body of up to 256 KiB, frees the
 * connection to the service even if the client reads nothing. Larger answers have their own limits
 * (docs/cost-budget.md).
 */
const maxBufferedBytes = 320 * 1024;

export interface RelayOptions {
  /** Signs the request's context. */
  readonly sign: () => string;
  /** The client, as rate limits count it. */
  readonly client: string;
  /** Notified when the request gets a connection, and when its answer has ended. */
  readonly held: HeldConnections;
  /** Whether to send the answer's head before its first part, which may come much later. */
  readonly staysOpen: boolean;
}

/**
 * Streams a request to a service and its answer to the client. It buffers at most `maxBufferedBytes`; each side waits
 * for the other. Resolves when the answer has ended. Also resolves when the answer broke off or the client
 * disconnected; then the connections are cut. For an answer that stays open, resolves when it has begun. Rejects with
 * RelayError if no answer began.
 */
export function relay(
  dispatcher: Dispatcher,
  request: IncomingMessage,
  response: ServerResponse,
  { sign, ...options }: RelayOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      new ServiceRequest(request, { sign, body: hasBody(request) ? readableOf(request) : null }),
      new Relay(request, response, { ...options, resolve, reject }),
    );
  });
}

/**
 * Returns the body as a stream that is read only when the service takes it, so a request that got no connection
 * still has its body. It is not the request itself: undici destroys a stream that it could not send, and that would
 * destroy the client's connection.
 */
const readableOf = (request: IncomingMessage): Readable =>
  Readable.from(request.iterator({ destroyOnReturn: false }), { objectMode: false });

interface RelayDeps extends Omit<RelayOptions, 'sign'> {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** One request to a service, and its answer. */
export class Relay implements Dispatcher.DispatchHandler, HeldConnection {
  readonly client: string;
  readonly sinceMs = performance.now();
  index = -1;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #deps: RelayDeps;
  #controller: Dispatcher.DispatchController | undefined;
  #isBodyPending = false;

  constructor(request: IncomingMessage, response: ServerResponse, deps: RelayDeps) {
    this.client = deps.client;
    this.#request = request;
    this.#response = response;
    this.#deps = deps;
    response.once('close', this.#onClientClosed);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#deps.held.add(this);
    if (this.#response.destroyed) controller.abort(new Error('the client disconnected'));
  }

  isClientSlow(): boolean {
    const isBodyAwaited = !this.#request.complete && this.#request.readableLength === 0;
    return isBodyAwaited || this.#response.writableLength > maxBufferedBytes;
  }

  cut(): void {
    this.#response.destroy();
  }

  /** Gives up the connections to another owner. */
  release(): void {
    this.#response.off('close', this.#onClientClosed);
    this.#deps.held.remove(this);
  }

  end(): void {
    if (!this.#response.headersSent || this.#response.writableEnded) return;
    this.#response.end();
    this.#controller?.abort(new Error('the gateway ends the answer'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    setClientHeaders(this.#response, headers);
    this.#isBodyPending = !this.#request.complete && hasBody(this.#request);
    if (this.#isBodyPending) this.#response.setHeader('Connection', 'close');
    this.#response.writeHead(status);
    if (!this.#deps.staysOpen) return;
    this.#response.flushHeaders();
    this.#deps.resolve();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk) || this.#response.writableLength <= maxBufferedBytes) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#deps.held.remove(this);
    if (this.#isBodyPending) endAheadOfBody(this.#request, this.#response);
    else this.#response.end();
    this.#deps.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isEnded = this.#response.writableEnded;
    // An ended answer can still be cut while its client does not read the rest.
    if (isEnded && !this.#response.closed) this.#response.once('close', () => this.#deps.held.remove(this));
    else this.#deps.held.remove(this);
    this.#response.off('close', this.#onClientClosed);
    if (this.#response.headersSent && !isEnded) this.#response.destroy();
    if (isEnded || this.#response.destroyed) this.#deps.resolve();
    else this.#deps.reject(new RelayError(error, this.#controller !== undefined));
  }

  readonly #onClientClosed = (): void => {
    if (!this.#response.writableFinished) this.#controller?.abort(new Error('the client disconnected'));
  };
}
