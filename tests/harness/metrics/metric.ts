import type { Client } from '../clients/client.ts';
import { listAt, textAt } from '../json.ts';

/** Reads a metric as admins see it, also where no scrape is set up: its only sample, or NaN without one. */
export async function metricOf(admin: Client, name: string): Promise<number> {
  const families = listAt((await admin.get('/_/metrics')).json, 'data');
  const [sample] = listAt(families.find((family) => textAt(family, 'name') === name) ?? { samples: [] }, 'samples');
  return Number(sample?.value ?? Number.NaN);
}
