/** An error's members in addition to its message. */
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
  /** The answer's status; 0 without an answer. */
  readonly status: number;
  /**
   * A stable code from the server (`validation_failed`, `not_found`), or from the client: `network` (no answer),
   * `aborted`, `unexpected_answer`, `invalid_argument`, `version_unknown`, `store_failed`.
   */
  readonly code: string;
  /** Details from the server: a message for each wrong field, the index within a batch, and so on. */
  readonly details: Readonly<Record<string, unknown>>;
  /** For a 412: the current version's ETag; undefined if there is no record. */
  readonly version: string | undefined;
  /** The request's id in the server's log. */
  readonly requestId: string | undefined;
  /** The milliseconds that the server asks to wait before the next try. */
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

/** A write's 412: the record has another version than the one that was read. */
export type Conflict = RecordbusError & { readonly status: 412; readonly code: 'precondition_failed' };

/** Whether a write failed because the record has another version. `error.version` is the current one. */
export const isConflict = (error: unknown): error is Conflict =>
  error instanceof RecordbusError && error.status === 412 && error.code === 'precondition_failed';

/** The error for an invalid client call. */
export const invalidArgument = (message: string, cause?: unknown): RecordbusError =>
  new RecordbusError(message, { status: 0, code: 'invalid_argument', cause });

/** The error for an answer from another server, such as a proxy's page. */
export const unexpectedAnswer = (status = 200): RecordbusError =>
  new RecordbusError('The answer does not come from Recordbus.', { status, code: 'unexpected_answer' });

/** The error for an aborted call. */
export const abortedBy = (signal: AbortSignal): RecordbusError =>
  new RecordbusError('The call was aborted.', { status: 0, code: 'aborted', cause: signal.reason });
