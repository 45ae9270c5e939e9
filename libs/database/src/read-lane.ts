import type { Duplex } from 'node:stream';
import type { Logger } from '@recordbus/shared/logging';
import pg from 'pg';
import { isConnectionError } from './errors.ts';
import type { Statement } from './statement.ts';

interface ReadLaneOptions {
  readonly connection: pg.ClientConfig;
  readonly size: number;
  readonly log: Logger;
}

/**
 * A few connections that many reads share, each sending its statement without waiting for the one before (the
 * driver's pipelining; twice the throughput of a pool for single-row reads). Only for short autocommit reads: a slow
 * one holds up those behind it. A read that loses its connection is sent once more on a new one.
 */
export class ReadLane {
  readonly #options: ReadLaneOptions;
  readonly #clients: (Promise<pg.Client> | undefined)[];
  #turn = 0;

  constructor(options: ReadLaneOptions) {
    this.#options = options;
    this.#clients = Array.from({ length: options.size });
  }

  async read<R>(statement: Statement): Promise<R[]> {
    try {
      return await this.#send<R>(statement);
    } catch (error) {
      if (!isConnectionError(error) || isSilence(error)) throw error;
      return this.#send<R>(statement);
    }
  }

  async close(): Promise<void> {
    const clients = this.#clients.splice(0);
    await Promise.allSettled(clients.map(async (client) => (await client)?.end()));
  }

  async #send<R>({ name, text, values }: Statement): Promise<R[]> {
    this.#turn = (this.#turn + 1) % this.#options.size;
    const slot = this.#turn;
    this.#clients[slot] ??= this.#connect(slot);
    const client = await this.#clients[slot];
    writeTogether(client.connection.stream);
    const result = await client.query({ ...(name && { name }), text, values: values as unknown[] });
    return result.rows;
  }

  async #connect(slot: number): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#options.connection, pipeline: true } as pg.ClientConfig);
    const drop = () => {
      this.#clients[slot] = undefined;
    };
    client.on('error', (error) => {
      this.#options.log.warn({ reason: error.message }, 'a reading connection was lost');
      drop();
    });
    client.on('end', drop);
    try {
      await client.connect();
      return client;
    } catch (error) {
      drop();
      throw error;
    }
  }
}

/** Did the server say nothing for as long as a statement may take? Asked again it would take as long again. */
const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';

/**
 * Has what is written from now until the event loop has served all that came in leave as one write. Each write wakes
 * the other side, which on a busy server costs more than all the rest of a small read.
 */
function writeTogether(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
