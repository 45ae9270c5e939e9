import { type Client, createClient } from '../harness/clients/client.ts';
import { textAt } from '../harness/json.ts';
import type { Target } from '../harness/stacks/target.ts';

/** A new key's members other than its scopes. */
interface KeyOptions {
  readonly name?: string;
  readonly expires_at?: number;
  readonly allowed_cidrs?: readonly string[];
  readonly rate_label?: string;
  readonly rate_limited?: boolean;
}

/** A test's key, with a client that sends it. */
export interface TestKey extends Client {
  readonly id: string;
  readonly key: string;
}

/** Creates a service key with these scopes; `by` is an admin by default. */
export async function makeKey(
  target: Pick<Target, 'url' | 'admin'>,
  scopes: readonly string[],
  options: KeyOptions = {},
  by?: Client,
): Promise<TestKey> {
  const maker = by ?? (await target.admin());
  const made = await maker.post('/api/v1/admin/keys', { name: scopes.join(' ').slice(0, 200), scopes, ...options });
  const key = textAt(made, 'key');
  return { ...createClient(target.url, key), id: textAt(made, 'id'), key };
}
