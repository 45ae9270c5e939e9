import type { RowResult } from '../rows/measure-row.ts';
import type { WebhookResults } from '../webhooks/measure-webhooks.ts';

/** All that a run of the bench found. */
export interface Result {
  readonly machine: readonly string[];
  /** How it was measured, as lines. */
  readonly conditions: readonly string[];
  readonly rows: readonly RowResult[];
  /** The statement of a create without HTTP, per second, with its event and without; undefined when that row was left out. */
  readonly statements: { readonly withEventPerSec: number; readonly withoutEventPerSec: number } | undefined;
  readonly webhooks: WebhookResults | undefined;
  /** Resident memory of the product's process in MB. */
  readonly memory: { readonly idleMb: number | undefined; readonly afterMb: number | undefined };
}

/** Everything that was not as it should be, each naming its row. */
export function allFailures({ rows, webhooks }: Result): string[] {
  const ofRows = rows.flatMap(({ row, product, bare }) => [
    ...product.failures.map((failure) => `${row.name}, product: ${failure}`),
    ...(bare?.failures ?? []).map((failure) => `${row.name}, bare server: ${failure}`),
  ]);
  const ofWebhooks = webhooks
    ? [
        ...webhooks.paced.flatMap(({ perSec, failures }) => failures.map((it) => `webhooks at ${perSec}/s: ${it}`)),
        ...webhooks.besideHanging.failures.map((it) => `webhooks beside hanging ones: ${it}`),
        ...webhooks.burst.failures.map((it) => `webhooks, burst: ${it}`),
      ]
    : [];
  return [...ofRows, ...ofWebhooks];
}
