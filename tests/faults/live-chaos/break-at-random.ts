import { setTimeout as wait } from 'node:timers/promises';
import type { LiveList } from '../../harness/clients/live-list.ts';
import { eventually } from '../../harness/eventually.ts';
import type { ServiceName, Stack } from '../../harness/stacks/stack.ts';
import { random } from './random.ts';
import type { SecondReplica } from './second-replica.ts';

interface Breaker {
  readonly stack: Stack;
  readonly replica: SecondReplica;
  readonly lists: readonly LiveList[];
  /** The maximum time that a client is cut off, in milliseconds. */
  readonly longestCutMs: number;
  readonly isOver: () => boolean;
}

/** The maximum time that the bus is down, and the maximum time between two faults. */
const longestPauseMs = 4000;

/** Causes one fault after the other: each once, and then more until `isOver`. Returns how often each happened. */
export async function breakAtRandom({ stack, replica, lists, longestCutMs, isOver }: Breaker): Promise<object> {
  async function kill(name: ServiceName): Promise<void> {
    const { pid } = stack.services[name] ?? {};
    if (pid === undefined) return;
    process.kill(pid, 'SIGKILL');
    await eventually(`${name} runs again`, () => stack.services[name]?.pid !== pid);
  }
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    gateway: () => kill('gateway'),
    realtime: () => kill('realtime'),
    replica: () => replica.change(),
    records: () => kill('records'),
    async bus() {
      await stack.ground.bus.kill();
      await wait(random(longestPauseMs));
      await stack.ground.bus.start();
    },
    async network() {
      for (const list of lists) if (random(2) === 0) list.cut(random(longestCutMs));
    },
  };
  const happened: Record<string, number> = {};
  const names = Object.keys(faults);
  for (let n = 0; n < names.length || !isOver(); n += 1) {
    const name = names[n % names.length] ?? '';
    await faults[name]?.();
    happened[name] = (happened[name] ?? 0) + 1;
    await wait(random(longestPauseMs));
  }
  return happened;
}
