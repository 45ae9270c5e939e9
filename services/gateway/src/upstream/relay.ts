import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { endAheadOfBody, hasBody } from '@recordbus/shared/http';
import { type Dispatcher, errors, type Pool } from 'undici';
import { setClientHeaders, toServiceHeaders } from './forwarded-headers.ts';

/** A request failed before its answer began. */
export class RelayError extends Error {
  /** False when no connection was made: then the service knows nothing of the request. */
  readonly isSent: boolean;
  readonly isTimeout: boolean;

  constructor(cause: Error, isSent: boolean) {
    super(cause.message, { cause });
    this.isSent = isSent;
    this.isTimeout = cause instanceof errors.HeadersTimeoutError;
  }
}

/**
 * So much of an answer waits here for its client, in bytes. One that is no larger leaves the connection to the service
 * free, also when nobody reads it: those up to 256 KiB with all around them. Larger ones have places of their own
 * (docs/cost-budget.md).
 */
const heldBytes = 320 * 1024;

/**
 * Sends a request to a service and its answer to the client, both as they come: no more than `heldBytes` wait here, and
 * each side waits for the other. Resolves when the answer has ended. Rejects with RelayError when there was none; when it
 * broke off in the middle, or the client went away, the connections are cut and there is nothing left to answer.
 */
export function relay(
  pool: Pool,
  request: IncomingMessage,
  response: ServerResponse,
  sealedContext: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const withBody = hasBody(request);
    pool.dispatch(
      {
        method: request.method ?? 'GET',
        path: request.url ?? '/',
        headers: toServiceHeaders(request.headers, sealedContext, withBody),
        body: withBody ? readableOf(request) : null,
      },
      new Relay(request, response, resolve, reject),
    );
  });
}

/**
 * The body, read only once the service takes it, so that a request which never got a connection still has it. The
 * stream is not the request itself because undici destroys what it could not send, and with it the client's connection.
 */
const readableOf = (request: IncomingMessage): Readable =>
  Readable.from(request.iterator({ destroyOnReturn: false }), { objectMode: false });

class Relay implements Dispatcher.DispatchHandler {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isBodyPending = false;

  constructor(request: IncomingMessage, response: ServerResponse, resolve: () => void, reject: (error: Error) => void) {
    this.#request = request;
    this.#response = response;
    this.#resolve = resolve;
    this.#reject = reject;
    response.once('close', this.#onClientClosed);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#response.destroyed) controller.abort(new Error('the client went away'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    setClientHeaders(this.#response, headers);
    this.#isBodyPending = !this.#request.complete && hasBody(this.#request);
    if (this.#isBodyPending) this.#response.setHeader('Connection', 'close');
    this.#response.writeHead(status);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk) || this.#response.writableLength <= heldBytes) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#isBodyPending) endAheadOfBody(this.#request, this.#response);
    else this.#response.end();
    this.#resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#response.off('close', this.#onClientClosed);
    if (this.#response.headersSent) this.#response.destroy();
    if (this.#response.destroyed) this.#resolve();
    else this.#reject(new RelayError(error, this.#controller !== undefined));
  }

  readonly #onClientClosed = (): void => {
    if (!this.#response.writableFinished) this.#controller?.abort(new Error('the client went away'));
  };
}
