import type { LookupAddress } from 'node:dns';
import type { TestContext } from 'node:test';
import {
  createEgressClient,
  type EgressClient,
  type EgressClientOptions,
  type EgressRequestOptions,
} from './egress-client.ts';
import { parseEgressRules } from './egress-rules.ts';

/** In these tests 127.0.0.1 stands for a public address; everything else on the loopback stays denied. */
export const rules = parseEgressRules({ deny: '', allow: '127.0.0.1' });
export const denyAll = parseEgressRules({ deny: '', allow: '' });
export const good: LookupAddress = { address: '127.0.0.1', family: 4 };
export const plain: EgressRequestOptions = { body: '{}', timeoutMs: 5_000, maxBodyBytes: 1_000 };

/** Creates a client that ends with the test. */
export function startClient(t: TestContext, options: Partial<EgressClientOptions> = {}): EgressClient {
  const client = createEgressClient({ rules: () => rules, ...options });
  t.after(() => client.close());
  return client;
}

/** Creates a gate that a test opens when it is ready. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
