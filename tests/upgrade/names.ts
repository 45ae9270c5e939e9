import dns from 'node:dns';
import promises from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Preloaded into every replica: a service's name has its ready replicas' addresses, as in Kubernetes. The file
 * `TEST_UPGRADE_NAMES` has them, and changes during the upgrade.
 */
const file = process.env.TEST_UPGRADE_NAMES ?? '';

/** Returns a name's addresses; undefined for a name that is not a service's. */
function addressesOf(name: string): dns.LookupAddress[] | undefined {
  const names: Record<string, readonly string[]> = JSON.parse(readFileSync(file, 'utf8'));
  return names[name]?.map((address) => ({ address, family: 4 }));
}

const ask = dns.lookup;
const askLater = promises.lookup;
let turn = 0;

function lookup(
  hostname: string,
  options: dns.LookupOptions,
  done: (error: Error | null, found: string | dns.LookupAddress[], family?: number) => void,
): void {
  const found = addressesOf(hostname);
  if (!found) return void ask(hostname, options, done);
  turn += 1;
  if (options.all) done(null, found);
  else done(null, found[turn % found.length]?.address ?? '', 4);
}

Object.assign(dns, { lookup });
Object.assign(promises, {
  lookup: async (hostname: string, options: dns.LookupOptions) => addressesOf(hostname) ?? askLater(hostname, options),
});
syncBuiltinESMExports();
