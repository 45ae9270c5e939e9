import dns from 'node:dns';
import promises from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Preloaded into the services in a stack with replicas: one host name has all replicas' addresses, as a service's name
 * has in compose and Kubernetes.
 */
const name = process.env.TEST_REPLICAS_NAME;
const addresses = (process.env.TEST_REPLICAS_ADDRESSES ?? '').split(',').map((address) => ({ address, family: 4 }));

const ask = dns.lookup;
let turn = 0;

/** Returns the addresses in rotating order, like name servers. */
function addressesInTurn(): dns.LookupAddress[] {
  turn = (turn + 1) % addresses.length;
  return [...addresses.slice(turn), ...addresses.slice(0, turn)];
}

function lookup(
  hostname: string,
  options: dns.LookupOptions,
  done: (error: Error | null, found: string | dns.LookupAddress[], family?: number) => void,
): void {
  if (hostname !== name) return void ask(hostname, options, done);
  const found = addressesInTurn();
  if (options.all) done(null, found);
  else done(null, found[0]?.address ?? '', 4);
}

const lookupLater = promises.lookup;
Object.assign(dns, { lookup });
Object.assign(promises, {
  lookup: async (hostname: string, options: dns.LookupOptions) =>
    hostname === name ? addressesInTurn() : lookupLater(hostname, options),
});
syncBuiltinESMExports();
