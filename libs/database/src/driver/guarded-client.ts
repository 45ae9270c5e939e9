import pg from 'pg';
import type { Primary } from '../servers/primary.ts';
import { BrokenAnswerError, createAnswerFrames } from './answer-frames.ts';
import { connectToPrimary } from './connect-to-primary.ts';

/** How many bytes one statement's answer may have: well below V8's longest string (512 MiB). */
const maxAnswerBytes = 256 * 2 ** 20;

/** A client's configuration. */
export interface GuardedConfig extends pg.ClientConfig {
  /** Finds the server to connect to, if the database has several. */
  readonly primary?: Primary | undefined;
}

/**
 * A driver client that survives every answer from the database. The driver reads in its socket's handler, where a
 * thrown error ends the process. Here the error fails the current statement and closes the connection, which fails the
 * other statements sent on it.
 */
export class GuardedClient extends pg.Client {
  readonly #primary: Primary | undefined;

  constructor(config: GuardedConfig = {}) {
    super(config);
    this.#primary = config.primary;
    guard(this.connection);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connect = () => super.connect();
    const connecting = this.#primary ? connectToPrimary(this, this.#primary, connect) : connect();
    if (!callback) return connecting;
    // The driver calls it without an error after a successful connect.
    connecting.then(() => (callback as () => void)(), callback);
    return undefined;
  }

  /** Reports that this connection's server takes no writes. */
  suspectPrimary(): void {
    const { host, port } = this;
    this.#primary?.suspect({ host, port });
  }
}

function guard(connection: pg.Connection): void {
  const attachListeners = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    attachListeners({
      on: (event, listener) => stream.on(event, event === 'data' ? guarded(listener, fail) : listener),
    });
  };

  function fail(error: Error): void {
    // Handled as if the server had refused the current statement. The connection cannot be used afterwards.
    connection.emit('errorMessage', error);
    connection.stream.destroy();
  }
}

/** Starts the driver's reader on a stream. After a failure the reader gets no more bytes. */
function guarded(read: (chunk: Buffer) => void, fail: (error: Error) => void): (chunk: Buffer) => void {
  const frames = createAnswerFrames(maxAnswerBytes);
  let hasFailed = false;
  return (chunk) => {
    if (hasFailed) return;
    try {
      const accepted = frames.accept(chunk);
      if (accepted > 0) read(accepted === chunk.length ? chunk : chunk.subarray(0, accepted));
      if (frames.problem) throw frames.problem;
    } catch (error) {
      hasFailed = true;
      fail(
        error instanceof BrokenAnswerError
          ? error
          : new BrokenAnswerError('cannot read the database answer', { cause: error }),
      );
    }
  };
}
