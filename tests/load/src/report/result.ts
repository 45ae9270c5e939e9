import type { BesideResult } from '../beside/measure-beside.ts';
import type { ImportResults } from '../imports/measure-imports.ts';
import type { LiveResults } from '../live/measure-live.ts';
import type { MoveResults } from '../moves/measure-move.ts';
import type { RowResult } from '../rows/measure-row.ts';
import type { WebhookResults } from '../webhooks/measure-webhooks.ts';

/** A bench run's result. */
export interface Result {
  readonly machine: readonly string[];
  /** Lines that describe the conditions. */
  readonly conditions: readonly string[];
  readonly rows: readonly RowResult[];
  /**
   * How many create statements run per second without HTTP, with and without the event; undefined when that row was
   * left out.
   */
  readonly statements: { readonly withEventPerSec: number; readonly withoutEventPerSec: number } | undefined;
  /** Other clients' latencies during the most expensive reads; undefined when they were not measured. */
  readonly beside: BesideResult | undefined;
  readonly webhooks: WebhookResults | undefined;
  readonly imports: ImportResults | undefined;
  readonly move: MoveResults | undefined;
  readonly live: LiveResults | undefined;
  /** The product process's resident memory in MB. */
  readonly memory: { readonly idleMb: number | undefined; readonly afterMb: number | undefined };
}

/** Returns all failures, each with its row. */
export function allFailures({ rows, beside, webhooks, imports, move, live }: Result): string[] {
  const ofRows = rows.flatMap(({ row, product, bare }) => [
    ...product.failures.map((failure) => `${row.name}, product: ${failure}`),
    ...(bare?.failures ?? []).map((failure) => `${row.name}, bare server: ${failure}`),
  ]);
  const ofBeside = beside?.failures.map((failure) => `during expensive reads: ${failure}`) ?? [];
  const ofWebhooks = webhooks
    ? [
        ...webhooks.paced.flatMap(({ perSec, failures }) => failures.map((it) => `webhooks at ${perSec}/s: ${it}`)),
        ...webhooks.besideHanging.failures.map((it) => `webhooks while others hang: ${it}`),
        ...webhooks.burst.failures.map((it) => `webhooks, burst: ${it}`),
      ]
    : [];
  const ofImports = imports?.failures.map((failure) => `imports: ${failure}`) ?? [];
  const ofMove = move?.failures.map((failure) => `move from PocketBase: ${failure}`) ?? [];
  const ofLive = live?.failures.map((failure) => `live connections: ${failure}`) ?? [];
  return [...ofRows, ...ofBeside, ...ofWebhooks, ...ofImports, ...ofMove, ...ofLive];
}
