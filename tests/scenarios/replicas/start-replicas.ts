import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  createDataDirectory,
  createGround,
  type Ground,
  type Stack,
  shareKeyFile,
  startStack,
  type Topology,
} from '../../harness/stacks/stack.ts';

/** Two replicas of every service: on one database and one bus, with one secret and one upload folder. */
export interface Replicas extends AsyncDisposable {
  readonly ground: Ground;
  readonly first: Stack;
  readonly second: Stack;
}

/** Starts both replicas, the second when the first is ready. */
export async function startReplicas(topology: Topology): Promise<Replicas> {
  await using starting = new AsyncDisposableStack();
  const ground = starting.use(await createGround());
  const first = starting.use(await startStack({ topology, ground }));
  // Each stack has its own data directory. Replicas share only the upload folder.
  const dataDirectory = createDataDirectory();
  starting.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  shareKeyFile(ground.dataDirectory, dataDirectory);
  symlinkSync(join(ground.dataDirectory, 'uploads'), join(dataDirectory, 'uploads'));
  const second = starting.use(await startStack({ topology, ground: { ...ground, dataDirectory } }));
  const started = starting.move();
  return { ground, first, second, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
