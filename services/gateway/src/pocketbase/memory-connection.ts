import { Duplex } from 'node:stream';

/** One end of a connection within this process. What is written to it is read at the other end. */
class ConnectionEnd extends Duplex {
  /** The address that this end shows as its peer's. */
  readonly remoteAddress: string | undefined;
  bytesWritten = 0;
  other: ConnectionEnd | undefined;
  #resume: (() => void) | undefined;

  constructor(remoteAddress?: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytesWritten += chunk.length;
    this.other?.receive(chunk, done);
  }

  override _final(done: () => void): void {
    this.other?.receive(null, done);
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.other?.peerHasGone();
    done(error);
  }

  private receive(chunk: Buffer | null, done: () => void): void {
    if (this.push(chunk) || chunk === null) done();
    else this.#resume = done;
  }

  private peerHasGone(): void {
    if (!this.destroyed) process.nextTick(() => this.destroy());
  }
}

/** Connects two ends. The server's end shows `clientAddress`. */
export function connectInMemory(clientAddress: string | undefined): {
  readonly client: Duplex;
  readonly server: Duplex;
} {
  const [client, server] = [new ConnectionEnd(), new ConnectionEnd(clientAddress)];
  client.other = server;
  server.other = client;
  return { client, server };
}
