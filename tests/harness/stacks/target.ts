import { after, type TestContext, test } from 'node:test';
import { borrowStack } from './borrowed-stack.ts';
import { callers, type Stack, type StackTopology, startStack, type Topology, usualEnvironment } from './stack.ts';

/** The stack that a scenario table runs against. */
export type Target = Pick<Stack, 'url' | 'guest' | 'admin' | 'user' | 'setupToken' | 'services'> & {
  /** Undefined for an external stack without a reachable bus; events are not checked then. */
  readonly natsUrl: string | undefined;
  /** Undefined for an external stack; stored data is not checked then. */
  readonly databaseUrl: string | undefined;
  /** Everything logged so far; empty for an external stack. */
  readonly logLines: readonly string[];
  /** The secret that signs this stack's tokens. */
  readonly secret: string;
};

/** Additional variables for a file's stacks. Set them before its first test. */
export const stackEnvironment: Record<string, string> = {};

let wantsNewStacks = false;

/** Requests new stacks for this file. Call it before the first test, with the reason. */
export function onNewStacks(_because: string): void {
  wantsNewStacks = true;
}

/** How many processes each service has in this run's stacks. */
export const replicaCount = process.env.TEST_TOPOLOGY === 'replicas' ? Number(process.env.TEST_REPLICAS ?? 2) : 1;

export const topologies: readonly Topology[] = ['one', 'processes'];

/** The topologies of a test that starts its own stacks: both, but CI runs it only where it shows most. */
export const topologiesOrInCi = (topology: Topology): readonly Topology[] =>
  process.env.TEST_TOPOLOGIES === 'fewest' ? [topology] : topologies;

/** Returns which of a test's topologies this run uses. Replicas replace both others. */
function inThisRun(chosen: readonly Topology[]): readonly StackTopology[] {
  const wanted = process.env.TEST_TOPOLOGY;
  if (wanted === 'replicas') return chosen === topologies ? ['replicas'] : [];
  return chosen.filter((topology) => (wanted ?? topology) === topology);
}

/** This file's stack, or a borrowed one. */
interface Held {
  readonly target: Target;
  letGo(): Promise<void>;
}

const held = new Map<StackTopology, Promise<Held>>();

/**
 * Declares a test that runs on both topologies, or on the one in TEST_TOPOLOGY. A file's tests share a stack for each.
 * With TEST_BASE_URL it runs once, on that external stack (described by TEST_SETUP_TOKEN, TEST_JWT_SECRET,
 * TEST_BUS_URL), unless the file needs additional variables.
 */
export function onEachTopology(name: string, body: (t: TestContext, target: Target) => Promise<void>): void {
  declareOn(topologies, name, body);
}

/** Declares a test that runs on one process only, for behaviour that does not depend on the topology. */
export function onOneProcess(name: string, body: (t: TestContext, target: Target) => Promise<void>): void {
  declareOn(['one'], name, body);
}

function declareOn(
  chosen: readonly Topology[],
  name: string,
  body: (t: TestContext, target: Target) => Promise<void>,
): void {
  const elsewhere = process.env.TEST_BASE_URL;
  if (elsewhere) {
    if (Object.keys(stackEnvironment).length > 0) return;
    test(name, (t) => body(t, targetElsewhere(elsewhere)));
    return;
  }
  const used = inThisRun(chosen);
  // A file without any test would never come to its `after`, and its servers would keep it running.
  if (used.length === 0) test(name, { skip: `does not run on topology ${process.env.TEST_TOPOLOGY}` });
  for (const topology of used) {
    test(`${name} (${topology})`, async (t) => {
      const { target } = await hold(topology);
      await body(t, target);
    });
  }
}

function hold(topology: StackTopology): Promise<Held> {
  const holding = held.get(topology) ?? obtain(topology);
  held.set(topology, holding);
  return holding;
}

async function obtain(topology: StackTopology): Promise<Held> {
  const { TEST_STACK_POOL: pool } = process.env;
  if (pool && Object.keys(stackEnvironment).length === 0) {
    const { target, giveBack } = await borrowStack(pool, { borrow: topology, isNew: wantsNewStacks });
    return { target, letGo: giveBack };
  }
  const stack = await startStack({ topology, environment: { ...usualEnvironment, ...stackEnvironment } });
  return {
    target: {
      ...stack,
      databaseUrl: stack.ground.databaseUrl,
      secret: stack.ground.secret,
      logLines: stack.process.lines,
    },
    letGo: () => stack.stop(),
  };
}

after(async () => {
  await Promise.all([...held.values()].map(async (holding) => (await holding).letGo()));
});

function targetElsewhere(url: string): Target {
  const { TEST_BUS_URL: natsUrl, TEST_SETUP_TOKEN: setupToken, TEST_JWT_SECRET: secret = '' } = process.env;
  return {
    url,
    natsUrl,
    databaseUrl: undefined,
    setupToken,
    secret,
    logLines: [],
    services: {},
    ...callers(url, setupToken),
  };
}
