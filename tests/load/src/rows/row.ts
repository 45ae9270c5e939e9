import type pg from 'pg';
import type { Requests } from '../generator/job.ts';
import type { AdminApi } from '../product/admin-api.ts';
import type { Beside } from './beside.ts';

/** What a row may prepare itself with. */
export interface Ground {
  readonly admin: AdminApi;
  readonly database: pg.Client;
  /** Of the product. */
  readonly url: string;
}

/** A row of the table: one kind of request, sent to the product and to the bare server in turn. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** Do its requests leave work behind (events) that has to be over before the next measurement? */
  readonly isWrite: boolean;
  /** What else the server does meanwhile. */
  readonly beside?: Beside;
  /** Does only the product know what is asked? */
  readonly isProductOnly?: boolean;
  /** Connections of the generator, where they are fewer than for the other rows. */
  readonly connections?: number;
  /** Makes what the row needs; gives what takes it away again. */
  prepare?(ground: Ground): Promise<() => Promise<void>>;
  /** The requests of one round; called before each. */
  requests(database: pg.Client): Promise<Requests> | Requests;
}
