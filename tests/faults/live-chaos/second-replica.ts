import { rmSync } from 'node:fs';
import { endChild } from '../../harness/processes/child.ts';
import { type Ground, type Stack, startStack } from '../../harness/stacks/stack.ts';
import { random } from './random.ts';

/** A second replica for every service, which starts and stops. */
export interface SecondReplica extends AsyncDisposable {
  /** The product's current addresses. */
  readonly urls: readonly string[];
  /** Starts the replica, or stops it with SIGTERM or SIGKILL. */
  change(): Promise<void>;
}

export function secondReplicaOf(first: { readonly url: string; readonly ground: Ground }): SecondReplica {
  let replica: Stack | undefined;

  async function take(): Promise<void> {
    const taken = replica;
    replica = undefined;
    if (!taken) return;
    await endChild(taken.process, random(2) === 0 ? 'SIGKILL' : 'SIGTERM');
    rmSync(taken.ground.dataDirectory, { recursive: true, force: true });
  }

  return {
    get urls() {
      return replica ? [first.url, replica.url] : [first.url];
    },
    async change() {
      if (replica) await take();
      else replica = await startStack({ topology: 'one', beside: first.ground });
    },
    [Symbol.asyncDispose]: take,
  };
}
