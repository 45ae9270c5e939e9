/** What an error says in addition to its sentence. */
interface ErrorParts {
  readonly status: number;
  readonly code: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly version?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The error of every function of the client.
 *
 * @example
 * try {
 *   await client.from('books').update(book, { title: 'Dune' });
 * } catch (error) {
 *   if (isConflict(error)) console.log(`someone wrote version ${error.version}`);
 *   else if (error instanceof RecordbusError) console.log(error.code, error.details);
 * }
 */
export class RecordbusError extends Error {
  override name = 'RecordbusError';
  /** The status of the answer; 0 when there was none. */
  readonly status: number;
  /**
   * A stable word: that of the server (`validation_failed`, `not_found`), or of the client: `network` (no answer),
   * `aborted`, `unexpected_answer`, `invalid_argument`, `version_unknown`, `store_failed`.
   */
  readonly code: string;
  /** What the server adds: a message for each wrong field, the index within a batch, and so on. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Of a 412: the ETag of the version that is there; undefined if there is no record. */
  readonly version: string | undefined;
  /** The id under which the server's log has the request. */
  readonly requestId: string | undefined;
  /** After how many milliseconds the server wants to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, code, details, version, requestId, retryAfterMs, cause }: ErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details ?? {};
    this.version = version;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The 412 of a write: the record has another version than the one that was read. */
export type Conflict = RecordbusError & { readonly status: 412; readonly code: 'precondition_failed' };

/** Whether an error says that the record has another version. `error.version` is the one that is there. */
export const isConflict = (error: unknown): error is Conflict =>
  error instanceof RecordbusError && error.status === 412 && error.code === 'precondition_failed';

/** An error of the client itself: it was called in a way that cannot work. */
export const invalidArgument = (message: string, cause?: unknown): RecordbusError =>
  new RecordbusError(message, { status: 0, code: 'invalid_argument', cause });

/** The error of an answer that another server sent, such as the page of a proxy. */
export const unexpectedAnswer = (status = 200): RecordbusError =>
  new RecordbusError('The answer is not that of a stack.', { status, code: 'unexpected_answer' });

/** The error of an aborted call. */
export const abortedBy = (signal: AbortSignal): RecordbusError =>
  new RecordbusError('The call was aborted.', { status: 0, code: 'aborted', cause: signal.reason });
