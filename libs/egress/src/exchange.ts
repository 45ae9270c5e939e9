import type { IncomingHttpHeaders } from 'node:http';
import type { Agent, Dispatcher } from 'undici';
import { EgressFailedError } from './egress-error.ts';
import type { OriginSlots, SlotTask } from './origin-slots.ts';

/** An answer. `truncated` says that the body has, or may have, more bytes than were kept. */
export type EgressResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly truncated: boolean;
};

export type ExchangeOptions = {
  readonly origin: string;
  readonly dispatch: Agent.DispatchOptions;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly slots: OriginSlots;
  readonly currentAgent: () => Agent;
  readonly resolve: (response: EgressResponse) => void;
  readonly reject: (error: unknown) => void;
  readonly mayStart: (() => boolean) | undefined;
};

const RESET = new Error('the connection is older than the current rules');
const TOO_LATE = new Error('the exchange has ended before its connection was ready');
const withdrawn = () => new EgressFailedError('the request was withdrawn', 'EGRESS_WITHDRAWN');
const LIMIT_REACHED = new Error('enough of the body has been read');
/** How many interim answers (1xx) are skipped. Receivers send one or two. */
const maxInterimAnswers = 100;
const tooManyInterim = () =>
  new EgressFailedError(`the receiver sent more than ${maxInterimAnswers} interim answers`, 'EGRESS_INTERIM');
const NO_BODY = new Uint8Array(0);

/** One request and its answer under one deadline, from the wait for a slot to the last byte. */
export class EgressExchange implements Dispatcher.DispatchHandler, SlotTask {
  readonly #options: ExchangeOptions;
  readonly #deadline: NodeJS.Timeout;
  #agent: Agent | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #interimAnswers = 0;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #keptBytes = 0;
  #cutting = false;
  #truncated = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#deadline = setTimeout(onDeadline, options.timeoutMs, this);
    options.slots.enter(options.origin, this);
  }

  run(): void {
    this.#agent = this.#options.currentAgent();
    this.#agent.dispatch(this.#options.dispatch, this);
  }

  /** Ends the exchange at its deadline, in any state. */
  expire(): void {
    const { timeoutMs, slots, origin } = this.#options;
    const error = new EgressFailedError(`timeout after ${timeoutMs} ms`, 'EGRESS_TIMEOUT');
    if (this.#controller) {
      this.#controller.abort(error);
      return;
    }
    slots.withdraw(origin, this);
    this.#fail(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A throw here withdraws the request before its first byte and keeps the socket usable.
    if (this.#settled) throw TOO_LATE;
    if (this.#agent !== this.#options.currentAgent()) throw RESET;
    if (this.#options.mayStart?.() === false) throw withdrawn();
    this.#controller = controller;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > maxInterimAnswers) controller.abort(tooManyInterim());
      return;
    }
    this.#status = status;
    this.#headers = headers;
    if (this.#options.maxBodyBytes === 0) this.#cutSoon();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.#options.maxBodyBytes - this.#keptBytes;
    if (chunk.length > room) this.#truncated = true;
    if (room > 0) {
      const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
      this.#chunks.push(kept);
      this.#keptBytes += kept.length;
    }
    if (chunk.length >= room) this.#cutSoon();
  }

  onResponseEnd(): void {
    this.#succeed();
    this.#options.slots.leave(this.#options.origin);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (error === RESET && !this.#settled) {
      this.run();
      return;
    }
    if (error === LIMIT_REACHED && !this.#settled) {
      this.#truncated = true;
      this.#succeed();
    } else {
      this.#fail(error);
    }
    this.#options.slots.leave(this.#options.origin);
  }

  /** Cuts the answer in the next turn: one that is only slightly too long has ended by then, and its socket is kept. */
  #cutSoon(): void {
    if (this.#cutting) return;
    this.#cutting = true;
    setImmediate(onCut, this.#controller);
  }

  /** Returns what has arrived of the answer, as if it were cut here; undefined before its head. */
  begunAnswer(): EgressResponse | undefined {
    return this.#status === 0 ? undefined : this.#answer(true);
  }

  #answer(truncated: boolean): EgressResponse {
    const [first] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks, this.#keptBytes) : (first ?? NO_BODY);
    return { status: this.#status, headers: this.#headers, body, truncated };
  }

  #succeed(): void {
    if (this.#settle()) this.#options.resolve(this.#answer(this.#truncated));
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#options.reject(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#deadline);
    return true;
  }
}

function onDeadline(exchange: EgressExchange): void {
  exchange.expire();
}

function onCut(controller: Dispatcher.DispatchController | undefined): void {
  controller?.abort(LIMIT_REACHED);
}
