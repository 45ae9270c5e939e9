import type pg from 'pg';
import type { Requests } from '../generator/job.ts';
import type { Size } from '../seed.ts';

/** A row of the table: one kind of request, sent to the product and to the bare server in turn. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** Do its requests leave work behind (events) that has to be over before the next measurement? */
  readonly isWrite: boolean;
  /** Records that are created beside the requests, per second, in the collection of this size. */
  readonly creates?: { readonly size: Size; readonly perSec: number };
  /** The requests of one round; called before each. */
  requests(database: pg.Client): Promise<Requests> | Requests;
}
