import type pg from 'pg';
import type { Requests } from '../generator/job.ts';
import type { AdminApi } from '../product/admin-api.ts';
import type { Beside } from './beside.ts';

/** What a row may use to prepare. */
export interface Ground {
  readonly admin: AdminApi;
  readonly database: pg.Client;
  /** The product's URL. */
  readonly url: string;
}

/** A table row: a kind of request, sent to the product and to the bare server in turn. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** Whether its requests cause work (events) that must end before the next measurement. */
  readonly isWrite: boolean;
  /** Additional load on the server meanwhile. */
  readonly beside?: Beside;
  /** Whether only the product supports it. */
  readonly isProductOnly?: boolean;
  /** The generator's connections, if fewer than for the other rows. */
  readonly connections?: number;
  /** Creates what the row needs. Returns a function that removes it. */
  prepare?(ground: Ground): Promise<() => Promise<void>>;
  /** Returns a round's requests. Called before each round. */
  requests(database: pg.Client): Promise<Requests> | Requests;
}

/** Returns a row's title as reports show it. */
export const titleOf = ({ title, connections }: Row): string =>
  connections === undefined ? title : `${title} (${connections} connections)`;
