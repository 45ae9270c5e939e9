import { heartbeat } from '@recordbus/process/background';
import type { ApiAddress } from '@recordbus/stack-calls';
import type { TargetOptions } from '../api/target-options.ts';
import { type Deployment, openDeployment } from '../deployment/open-deployment.ts';
import { findStack } from '../records/find-stack.ts';
import type { CommandParts } from '../run-command.ts';
import { type KeyMaker, keysByApi, keysInDatabase } from './key-maker.ts';

const name = 'import pocketbase';

/** How long a key outlives its command when that is killed, and how often a running command renews it. */
const lifetimeSec = 600;
const renewalMs = 240_000;

/** The stack that a command moves into. */
export interface MoveTarget {
  readonly address: ApiAddress;
  /** The stack's database, if the command runs on the stack's data directory without a key. */
  readonly deployment: Deployment | undefined;
}

/**
 * Finds the stack to move into, and makes a key for this command, which no rate limit counts: a move has a request for
 * each file. The key ends with the command. A killed command's key ends within minutes, and the next command removes it.
 */
export async function findMoveTarget(parts: CommandParts, options: TargetOptions): Promise<MoveTarget> {
  const address = await findStack(parts, options);
  const isRemote = options.url !== undefined || address.key !== undefined;
  const deployment = isRemote ? undefined : await openDeployment(parts);
  const keys = deployment ? keysInDatabase(deployment) : keysByApi(address);
  const made = await makeKey(keys);
  if (!made) return { address, deployment };
  const stopRenewing = heartbeat(renewalMs, () => keys.extend(made.id, endSec()));
  parts.lifecycle.onStop('key', async () => {
    stopRenewing();
    await keys.delete(made.id);
  });
  return { address: { url: address.url, key: made.key }, deployment };
}

async function makeKey(keys: KeyMaker): Promise<{ readonly id: string; readonly key: string } | undefined> {
  for (const { id, name: other, expires_at: end } of await keys.list())
    if (other === name && end !== null && end <= nowSec()) await keys.delete(id);
  return keys.create({ name, scopes: ['admin'], expires_at: endSec(), rate_limited: false });
}

const nowSec = (): number => Math.floor(Date.now() / 1000);
const endSec = (): number => nowSec() + lifetimeSec;
